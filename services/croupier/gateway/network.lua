-- The network of a caller as keyed hashes in a header: of an IPv4 /24, or of an IPv6 /64 and the /48 around it.
-- The hash is SipHash-2-4 (https://www.aumasson.jp/siphash/siphash.pdf). Envoy's LuaJIT has 64-bit integers (ULL).
-- A line before the first sets KEY_FILE (configuration.py). A hash takes 0.4 microseconds, two of IPv6 take 3.5.

local bit = require("bit")
local bor, bxor, lshift, rol = bit.bor, bit.bxor, bit.lshift, bit.rol

-- Return eight bytes of a text as a number, the first byte the lowest; those behind its end are 0.
local function word(text, first)
  local value = 0ULL
  for place = first + 7, first, -1 do
    value = bor(lshift(value, 8), text:byte(place) or 0)
  end
  return value
end

-- Return the two halves of a key of 32 hexadecimal digits.
local function key_in(path)
  local file = assert(io.open(path))
  local digits = file:read("*a"):match("^(%x+)%s*$")
  file:close()
  assert(digits and #digits == 32, "invalid network key: expected 32 hexadecimal digits")
  local bytes = digits:gsub("%x%x", function(pair) return string.char(tonumber(pair, 16)) end)
  return word(bytes, 1), word(bytes, 9)
end

local function rounds(count, v0, v1, v2, v3)
  for _ = 1, count do
    v0 = v0 + v1; v1 = bxor(rol(v1, 13), v0); v0 = rol(v0, 32)
    v2 = v2 + v3; v3 = bxor(rol(v3, 16), v2)
    v0 = v0 + v3; v3 = bxor(rol(v3, 21), v0)
    v2 = v2 + v1; v1 = bxor(rol(v1, 17), v2); v2 = rol(v2, 32)
  end
  return v0, v1, v2, v3
end

local function siphash(k0, k1, text)
  local v0, v1 = bxor(k0, 0x736f6d6570736575ULL), bxor(k1, 0x646f72616e646f6dULL)
  local v2, v3 = bxor(k0, 0x6c7967656e657261ULL), bxor(k1, 0x7465646279746573ULL)
  for first = 1, #text + 1, 8 do
    local block = word(text, first)
    if first + 7 > #text then
      block = bor(block, lshift(0ULL + #text, 56))
    end
    v0, v1, v2, v3 = rounds(2, v0, v1, v2, bxor(v3, block))
    v0 = bxor(v0, block)
  end
  v0, v1, v2, v3 = rounds(4, v0, v1, bxor(v2, 0xff), v3)
  return bit.tohex(bxor(bxor(v0, v1), bxor(v2, v3)))
end

local function numbers(text)
  local found = {}
  for group in text:gmatch("%x+") do
    found[#found + 1] = tonumber(group, 16)
  end
  return found
end

-- Return the eight 16-bit numbers of an IPv6 address, whose last two may be written as an IPv4 address.
local function groups_of(address)
  local pure = address:gsub("(%d+)%.(%d+)%.(%d+)%.(%d+)$", function(a, b, c, d)
    return ("%x:%x"):format(a * 256 + b, c * 256 + d)
  end)
  local head, tail = pure:match("^(.-)::(.*)$")
  local groups, last = numbers(head or pure), numbers(tail or "")
  while #groups + #last < 8 do
    groups[#groups + 1] = 0
  end
  for _, group in ipairs(last) do
    groups[#groups + 1] = group
  end
  return groups
end

-- Return the networks of an address as texts: one of IPv4, also within IPv6, or two of IPv6.
local function networks(address)
  local ipv4 = address:match("^(%d+%.%d+%.%d+)%.%d+$")
  if ipv4 then
    return ipv4
  end
  local g = groups_of(address)
  if g[1] + g[2] + g[3] + g[4] + g[5] == 0 and g[6] == 0xffff then
    return ("%d.%d.%d"):format(bit.rshift(g[7], 8), bit.band(g[7], 255), bit.rshift(g[8], 8))
  end
  local wide = ("%x:%x:%x"):format(g[1], g[2], g[3])
  return ("%s:%x"):format(wide, g[4]), wide
end

local k0, k1 = key_in(KEY_FILE)

local function add_network(handle)
  -- "192.0.2.1:443", "[2001:db8::1]:443" or "[fe80::1%eth0]:443"
  local address = handle:streamInfo():downstreamRemoteAddress():match("^%[?([^%]%%]*)[^%]]*%]?:%d+$")
  local near, wide = networks(address)
  local header = siphash(k0, k1, near) .. (wide and "," .. siphash(k0, k1, wide) or "")
  handle:headers():replace("x-croupier-network", header)
end

function envoy_on_request(handle)
  local done, fault = pcall(add_network, handle)
  if not done then
    -- Envoy would let the call pass, without the limits of its network.
    handle:logErr(tostring(fault))
    handle:respond({[":status"] = "500"}, "")
  end
end
