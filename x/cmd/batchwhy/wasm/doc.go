//go:build !(js && wasm)

// Command wasm is the module of the page. It is compiled for js/wasm only.
package main

import "fmt"

func main() { fmt.Println("wasm: compile it with GOOS=js GOARCH=wasm") }
