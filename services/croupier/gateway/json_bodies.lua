-- Refuses bodies that the OpenAPI document does not describe: unknown fields, which the transcoder would ignore, and
-- values of another type than that of their field, which it would convert. All other faults are left to the transcoder.
-- `messages` has the type of each field by message and name. A type is a message, "*" before the type of a list's items,
-- or one of these, with the beginnings of its values.
local BEGINNINGS = {
  ["an object"] = "^{",
  ["any value"] = '^["%-%d{%[tfn]',
  ["a number"] = "^[%-%d]",
  ["a number or a string"] = '^["%-%d]',
  ["a string"] = '^"',
  ["true or false"] = "^[tf]",
}

-- Returns what is expected of a value of a type, and its beginning.
local function form_of(type)
  if type:sub(1, 1) == "*" then return "a list", "^%[" end
  if messages[type] then return "an object", "^{" end
  return type, BEGINNINGS[type]
end

-- Returns the place after a string, an object or a list that begins at a place, or after the text if it has no end.
local function after(text, place)
  local depth, in_string = 0, false
  repeat
    local char = text:sub(place, place)
    if char == '"' then
      in_string = not in_string
    elseif char == "\\" then
      place = place + 1
    elseif not in_string then
      depth = depth + ((char == "{" or char == "[") and 1 or -1)
    end
    if depth <= 0 and not in_string then return place + 1 end
    place = text:find(in_string and '["\\]' or '["{}%[%]]', place + 1)
  until not place
  return #text + 1
end

local function shown(name)
  return (name:sub(1, 64):gsub("[^%w_]", "?"))
end

-- Returns the path of the first faulty field and a sentence about it, or nothing.
local function fault_of(text, root)
  local open, paths, depth = {}, {}, 0
  local type, path, place = root, "", 1
  while true do
    place = text:find("[^%s,]", place)
    if not place then return end
    if text:find("^[%]}]", place) then
      depth = depth - 1
      if depth < 1 then return end
      place = place + 1
    else
      local inside = open[depth]
      if inside and messages[inside] then
        local name, value = text:match('^"([^"\\]*)"%s*:%s*()', place)
        if not name then return paths[depth], "expected the name of a field in double quotes, without escapes" end
        path = (paths[depth] == "" and "" or paths[depth] .. ".") .. shown(name)
        type, place = messages[inside][name], value
        if not type then return path, "unknown field '" .. path .. "'" end
        if place > #text then return end
      elseif inside then
        type, path = inside:sub(2), paths[depth]
      end
      local expected, beginning = form_of(type)
      if not text:find(beginning, place) then
        return path, "invalid " .. (path == "" and "body" or path) .. ": expected " .. expected
      end
      if expected == "a list" or messages[type] then
        depth = depth + 1
        open[depth], paths[depth] = type, path
        place = place + 1
      elseif text:find('^["{%[]', place) then
        place = after(text, place)
      else
        place = text:find("[%s,%]}]", place) or #text + 1
      end
    end
  end
end

function envoy_on_request(handle)
  local call = handle:filterContext()
  -- The route that is known when the answer comes is that of gRPC.
  handle:streamInfo():dynamicMetadata():set("croupier", "is_stream", call:get("is_stream"))
  local message = call:get("message")
  local body = message ~= "" and handle:body()
  if not body or body:length() == 0 then return end
  local path, sentence = fault_of(body:getBytes(0, body:length()), message)
  if sentence then
    handle:streamInfo():dynamicMetadata():set("croupier", "field", path)
    handle:respond({[":status"] = "400"}, sentence)
  end
end

function envoy_on_response(handle)
  local call = handle:streamInfo():dynamicMetadata():get("croupier")
  if call and call["is_stream"] and handle:headers():get(":status") == "200" then
    handle:headers():replace("content-type", "application/x-ndjson")
  end
end
