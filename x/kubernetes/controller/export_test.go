package controller

// Compiled returns the number of schedules that are kept.
func (c *CronJobs) Compiled() int { return len(c.compiled) }

// Known returns the number of pods that are kept.
func (c *Jobs) Known() int { return c.known.Len() }

// MergeEvents merges the events of a round.
var MergeEvents = mergeEvents
