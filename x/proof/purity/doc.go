// Package purity checks that the planning packages are pure: the same input gives
// the same output, whatever the clock, the machine, chance or another goroutine
// does.
//
// Its test reads the sources of those packages and fails on what could break
// that promise:
//
//   - imports that reach the outside or share state: context, os, net, sync, log,
//     math/rand, crypto/rand, hash/maphash, runtime, syscall, unsafe and others;
//   - the clock and the machine's time zones: time.Now, time.Sleep, time.Local,
//     time.LoadLocation and their like;
//   - go statements, channels and select; printing; init functions;
//   - package variables, which are hidden state. Errors are allowed, and so are constants in
//     effect: variables made of numbers, strings, arrays and structs alone that are never written
//     to after their declaration and whose address is never taken;
//   - ranging over a map, whose order is random. Where the order really does not reach the result,
//     the comment "//purity:ordered" with the reason, on the line above, permits it.
//     slices.Sorted(maps.Keys(m)) needs no comment.
//
// Other tests check which packages these packages import, which modules the module
// requires, and that the picture of the packages in README.md shows their imports.
package purity
