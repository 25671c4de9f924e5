// Package licenses checks results/licenses.md: the modules whose packages a production import links, and their licenses.
//
//	go test ./licenses -update    # writes the table again
package licenses
