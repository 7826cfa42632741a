-- wrk posts this body over and over: `wrk … -s bench/post.lua URL -- BODY`. Each `@` in it becomes a number that no other
-- request has, so that nothing is answered by chance from a memo.
local count = 0
local body

wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"

function init(arguments)
  body = arguments[1]
end

function request()
  count = count + 1
  return wrk.format(nil, nil, nil, (string.gsub(body, "@", count)))
end
