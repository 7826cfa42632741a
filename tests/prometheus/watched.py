"""Whether a Prometheus reads a server and evaluates every rule without an error, and whether a healthy server is left alone.

Usage: watched.py URL-of-Prometheus
"""

import json
import sys
import time
import urllib.parse
import urllib.request

PATIENCE_SECONDS = 60
# Scores are looked at every five minutes.
SELDOM = "fullbench-scores"

opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def ask(path: str, **parameters: str) -> dict:
    url = f"{sys.argv[1]}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
    with opener.open(url, timeout=10) as answer:
        return json.load(answer)["data"]


def value(expression: str) -> float | None:
    found = ask("query", query=expression)["result"]
    return float(found[0]["value"][1]) if found else None


def what_is_missing() -> str | None:
    """Why Prometheus is not done yet, in words; nothing once it is."""
    try:
        if value('up{job="fullbench"}') != 1:
            return f"the server is not read: {ask('targets')['activeTargets']}"
        if value("fullbench_database_up") != 1:
            return "there is no measurement of the database"
        groups = ask("rules", type="alert")["groups"]
        alarms = ask("alerts")["alerts"]
    except OSError as error:
        return f"Prometheus does not answer: {error}"
    if not groups:
        return "there are no rules"
    rules = [rule for group in groups if group["name"] != SELDOM for rule in group["rules"]]
    not_right = [(rule["name"], rule["health"], rule.get("lastError")) for rule in rules if rule["health"] != "ok"]
    if not_right:
        return f"rules that are not evaluated: {not_right}"
    # Before the first measurements came it could have been otherwise.
    if alarms:
        return f"a healthy server has alerts: {[alarm['labels'] for alarm in alarms]}"
    return None


def main() -> int:
    end = time.monotonic() + PATIENCE_SECONDS
    while missing := what_is_missing():
        if time.monotonic() > end:
            print(f"error: {missing}", file=sys.stderr)
            return 1
        time.sleep(0.2)
    rules = [rule for group in ask("rules", type="alert")["groups"] for rule in group["rules"]]
    print(f"Prometheus reads the server, evaluates {len(rules)} rules, and none fires")
    return 0


if __name__ == "__main__":
    sys.exit(main())
