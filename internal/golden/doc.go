// Package golden runs stories: text files of commands and their expected output.
//
//	# A job of two pods, one of which fails once.
//	job name=demo completions=2
//	----
//	created
//
//	pods phase=(Running,Failed) restarted
//	exit code 3
//	----
//	pod-0 Running
//	pod-1 Failed
//
// A command is a line of package line. If this line has no input, the lines up to "----" are the
// command's input. The lines from there to the next blank line are what the command printed. An
// output that contains blank lines is enclosed in two pairs of "----" lines. Lines that begin with #
// between the commands are the prose of the story, and blank lines end a block.
//
// A test calls [Run]. With the flag -update the expected outputs are rewritten
// and everything else is kept. Commit a rewritten story only if you can explain
// every line that changed.
package golden
