// Package cronjobreason has the words in which a plan of package cronjob says why, and a cronjob.Outcome what
// came of it: why a job is created or deleted ([Create], [Delete]), what the CronJob waits for ([Wait]), why a run
// never starts ([Unstarted]), and what became of a read or write ([Result]). In JSON each is a word, never a number.
package cronjobreason
