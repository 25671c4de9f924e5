// Outside uses the modules as importers do. It publishes the working tree into a module proxy on
// disk, and then, in temporary folders outside of the repository:
//
//   - builds and runs programs, and checks which modules they compile: one imports the root, one
//     imports the adapter's convert, one mirrors the jobs of member clusters, one is a study by
//     simulation, and one asks what a round would decide;
//   - builds an operator whose resources start each other on a schedule;
//   - tests the program of examples/tasks with the library's kit;
//   - imports each published package alone, from an empty go.mod, builds that and tidies it, three
//     times: with nothing pinned, and with the libraries of Kubernetes at the versions of the
//     module's go.mod, and at the versions of its newest.mod;
//   - builds the custom-resource controller of examples/kubernetes/render with the oldest libraries
//     of Kubernetes that the adapter requires, and builds and tests it with the newest;
//   - installs every command by its version, and runs it;
//   - adds jobcheck to a module as a tool, and runs it.
//
// The version is new in each run, so no cache has it; it is removed from the module cache in the
// end.
//
//	go run ./tools/outside -root ../.. [-match "a mirror"]
package main
