// Package crons has three complete cron controllers for kinds of their own: report, snapshot and
// plan.
package crons
