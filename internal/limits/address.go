package limits

import (
	"crypto/hmac"
	"crypto/sha256"
	"net/http"
	"net/netip"
	"strings"
)

// ClientAddress returns the address a request comes from, and whether somebody
// who is not one of our proxies sent forwarding headers: then a proxy stands
// before us that we were not told about, or somebody tries to pass for
// another. The zero address means that the peer's is not known.
func ClientAddress(r *http.Request, trusted []netip.Prefix) (client netip.Addr, untrustedForward bool) {
	peer := parseHop(r.RemoteAddr)
	if !isTrusted(peer, trusted) {
		return peer, isForwarded(r.Header)
	}
	client = peer
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0; i-- {
		hop := parseHop(strings.TrimSpace(hops[i]))
		if !hop.IsValid() {
			return client, false // nobody vouches for what stands left of it
		}
		if client = hop; !isTrusted(hop, trusted) {
			return client, false
		}
	}
	return client, false
}

// isForwarded reports whether a request carries any of the headers by which
// proxies tell whom they speak for.
func isForwarded(h http.Header) bool {
	for _, name := range []string{"X-Forwarded-For", "Forwarded", "X-Real-Ip", "X-Forwarded-Host", "X-Forwarded-Proto"} {
		if len(h.Values(name)) > 0 {
			return true
		}
	}
	return false
}

// Forwarded reports whether a request came through a proxy, trusted or not.
func Forwarded(r *http.Request) bool { return isForwarded(r.Header) }

// parseHop reads an address with or without a port, and with or without the
// brackets of IPv6.
func parseHop(s string) netip.Addr {
	if withPort, err := netip.ParseAddrPort(s); err == nil {
		return plain(withPort.Addr())
	}
	addr, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(s, "["), "]"))
	if err != nil {
		return netip.Addr{}
	}
	return plain(addr)
}

// plain makes the many spellings of an address one.
func plain(a netip.Addr) netip.Addr { return a.Unmap().WithZone("") }

func isTrusted(a netip.Addr, trusted []netip.Prefix) bool {
	for _, p := range trusted {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// Network returns what counts as one visitor: an IPv4 address, or the /64 of
// an IPv6 address. An unknown address gives the zero prefix.
func Network(a netip.Addr) netip.Prefix {
	a = plain(a)
	bits := 64
	if a.Is4() {
		bits = 32
	}
	p, err := a.Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return p
}

// Key returns 32 bytes that stand for the network of an address: the same for
// the same network and secret, and of no use to find the address without the
// secret.
func Key(secret []byte, a netip.Addr) []byte {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte("network address\x00")) // other uses of the secret begin otherwise
	mac.Write([]byte(Network(a).String()))
	return mac.Sum(nil)
}
