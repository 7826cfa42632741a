"""Generated from schema/openapi.json by scripts/sdk-python; changes made here are lost."""
