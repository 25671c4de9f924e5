// Package cronjobreason has the reasons in a plan of package cronjob, and the results in a
// cronjob.Outcome: why a job is created or deleted ([Create], [Delete]), what the CronJob waits for
// ([Wait]), why a run never starts ([Unstarted]), why there is no schedule ([Problem]), and the
// result of a read or write ([Result]). In JSON each is a word, never a number. Later versions add
// words: give a switch a default.
package cronjobreason
