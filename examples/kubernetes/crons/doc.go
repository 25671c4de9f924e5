// Package crons has three cron controllers, each whole and for kinds of its own: report, snapshot and plan.
package crons
