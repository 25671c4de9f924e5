// Package jobreason has the reasons in a plan of package job, and the results in a job.Outcome: why
// a pod is created or deleted ([Create], [Delete]), what the job waits for ([Wait]), how an ended
// pod is counted ([Counted]), and the result of a write ([Result]). In JSON each is a word, never a
// number. Later versions add words: give a switch a default.
package jobreason
