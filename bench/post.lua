-- wrk sends this request over and over; the prompts differ, so that nothing is answered by chance from a memo.
local count = 0
local body = '{"model":"sim-95","messages":[{"role":"user","content":"What is %d + 17?"}],"temperature":0}'

wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"

function request()
  count = count + 1
  return wrk.format(nil, "/v1/chat/completions", nil, string.format(body, count))
end
