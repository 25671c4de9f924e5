// Package jobreason has the words in which a plan of package job says why, and a job.Outcome what came of
// it: why a pod is created or deleted ([Create], [Delete]), what the job waits for ([Wait]), how an ended pod is
// counted ([Counted]), and what became of a write ([Result]). In JSON each is a word, never a number.
package jobreason
