package page

import (
	"bytes"
	"fmt"
	"mime"
	"net"
	"net/http"
	"path"
	"strings"
	"time"
)

// policy is the Content-Security-Policy of index.html with frame-ancestors, which a page can only
// set in a header.
const policy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src blob:; style-src 'self'; " +
	"img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Handler serves the files, compressed.
func (f Files) Handler() (http.Handler, error) {
	packed := make(Files, len(f))
	for name, data := range f {
		var err error
		if packed[name], err = pack(data); err != nil {
			return nil, err
		}
	}

	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(path.Clean(r.URL.Path), "/")
		if name == "" {
			name = "index.html"
		}

		data, ok := f[name]
		if !ok {
			http.NotFound(w, r)
			return
		}

		h := w.Header()
		h.Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-cache")

		if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			h.Set("Content-Encoding", "gzip")
			data = packed[name]
		}
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
	}), nil
}

// Listen opens a port of this machine. Other machines cannot reach the port.
func Listen(address string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("%s: is not an address of this machine alone, such as 127.0.0.1:8080", address)
	}
	return net.Listen("tcp", address)
}
