package world

import "time"

// Settle runs rounds until one writes nothing.
func (w *Job) Settle() error {
	for writes := -1; writes < w.Writes; {
		writes = w.Writes
		if _, err := w.Round(); err != nil {
			return err
		}
	}
	return w.Err()
}

// Settle runs rounds until one writes nothing.
func (w *CronJob) Settle() error {
	for writes := -1; writes < w.Writes; {
		writes = w.Writes
		if _, err := w.Round(); err != nil {
			return err
		}
	}
	return w.Err()
}

// Pass lets time pass, with rounds at the end and whenever the controller has asked for one.
func (w *Job) Pass(d time.Duration) error {
	return pass(&w.Now, d, func() time.Time { return w.Requeue.At }, w.Settle)
}

// Pass lets time pass, with rounds at the end and whenever the controller has asked for one.
func (w *CronJob) Pass(d time.Duration) error {
	return pass(&w.Now, d, func() time.Time { return w.Requeue.At }, w.Settle)
}

func pass(now *time.Time, d time.Duration, again func() time.Time, settle func() error) error {
	until := now.Add(d)
	for at := again(); at.After(*now) && at.Before(until); at = again() {
		*now = at
		if err := settle(); err != nil {
			return err
		}
	}
	*now = until
	return settle()
}
