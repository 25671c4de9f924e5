package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
)

// request sends a request to the handler of the store.
func (w *world) request(method, path, body string) (code int, text string) {
	w.Helper()
	r := httptest.NewRequestWithContext(w.Context(), method, path, strings.NewReader(body))
	recorder := httptest.NewRecorder()
	w.Handler().ServeHTTP(recorder, r)
	return recorder.Code, recorder.Body.String()
}

// must303 sends a request that must succeed.
func (w *world) must303(method, path, body string) {
	w.Helper()
	if code, text := w.request(method, path, body); code != http.StatusSeeOther {
		w.Fatalf("%s %s: %d %s", method, path, code, text)
	}
}

// pass lets time pass, in which the worker does what is due.
func (w *world) pass(worker *Worker, d time.Duration) {
	w.Helper()
	for end := w.time.Add(d); w.time.Before(end); {
		w.at(w.time.Add(500 * time.Millisecond))
		w.beat(worker)
		for did := true; did; {
			ticked, err := worker.Tick(w.Context())
			w.must(err)
			w.settle(worker)
			did = ticked
		}
	}
}

func (w *world) view() View {
	w.Helper()
	views, err := w.Views(w.Context())
	w.must(err)
	if len(views) != 1 {
		w.Fatalf("there are %d schedules", len(views))
	}
	return views[0]
}

// TestSchedules: a schedule is created, edited, paused, triggered, backfilled and removed over
// HTTP.
func TestSchedules(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		w := newWorld(t, address)
		var payloads []string
		worker := w.worker("a", func(_ context.Context, payload string, _ job.Pod) (string, int32) {
			payloads = append(payloads, payload)
			return "done", 0
		})
		start := w.time
		ran := func(want ...string) {
			t.Helper()
			if got := strings.Join(payloads, " "); got != strings.Join(want, " ") {
				t.Errorf("ran %s, want %s", got, want)
			}
			payloads = nil
		}

		w.must303("PUT", "/schedules/tidy", `{"schedule": "*/10 * * * * *", "payload": "{run}"}`)
		w.pass(worker, 21*time.Second)
		ran("2001-09-09T01:46:50Z", "2001-09-09T01:47:00Z")
		if v := w.view(); len(v.Runs) != 2 || v.Runs[0].Result != "Complete" || !v.Next.Equal(start.Add(30*time.Second)) {
			t.Errorf("the page shows %+v", v)
		}

		w.must303("PUT", "/schedules/tidy", `{"schedule": "*/20 * * * * *", "payload": "{run}"}`)
		w.pass(worker, 20*time.Second)
		ran("2001-09-09T01:47:20Z")

		w.must303("POST", "/schedules/tidy/pause", "")
		w.pass(worker, time.Minute)
		ran()
		w.must303("POST", "/schedules/tidy/trigger?id=x", "")
		w.must303("POST", "/schedules/tidy/trigger?id=x", "")
		w.pass(worker, time.Second)
		if len(payloads) != 1 {
			t.Errorf("a trigger that was sent twice ran %d times", len(payloads))
		}
		payloads = nil

		w.must303("POST", "/schedules/tidy/resume", "")
		w.pass(worker, time.Second)
		ran() // runs that came due during the pause do not start
		if v := w.view(); len(v.Missed) != 1 || v.Missed[0].Runs != 3 || !strings.Contains(v.Missed[0].Reason, "suspended") {
			t.Errorf("missed %+v", v.Missed)
		}
		_, text := w.request("GET", "/", "")
		for _, want := range []string{
			"tidy", "*/20 * * * * *", "tidy-manual-x", "3 until 2001-09-09 01:48:20 UTC", "suspended",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("the page lacks %q:\n%s", want, text)
			}
		}

		w.must303("POST", "/schedules/tidy/backfill?after=2001-09-09T01:47:21Z&until=2001-09-09T01:48:01Z", "")
		w.pass(worker, time.Second)
		ran("2001-09-09T01:47:40Z", "2001-09-09T01:48:00Z")

		w.must303("DELETE", "/schedules/tidy", "")
		w.pass(worker, time.Minute)
		ran()
		w.nothingIsLeft()
	})
}

// nothingIsLeft checks that no table has rows of a schedule that was removed.
func (w *world) nothingIsLeft() {
	w.Helper()
	for _, table := range []string{"schedules", "jobs", "pods", "requests", "missed", "news"} {
		if n := w.count(table); n != 0 {
			w.Errorf("%d rows of %s are left", n, table)
		}
	}
}

// TestSchedules_RemovedDuringARun: the run stops, and its end makes no schedule due.
func TestSchedules_RemovedDuringARun(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		w := newWorld(t, address)
		stopped := 0
		var worker *Worker
		worker = w.worker("a", func(ctx context.Context, _ string, _ job.Pod) (string, int32) {
			w.must303("DELETE", "/schedules/slow", "")
			w.beat(worker)
			<-ctx.Done()
			stopped++
			return "", 143
		})
		w.must303("PUT", "/schedules/slow", `{"schedule": "*/10 * * * * *"}`)
		w.pass(worker, time.Minute)
		if stopped != 1 {
			t.Errorf("%d runs were stopped", stopped)
		}
		w.nothingIsLeft()
	})
}

// TestSchedules_Overlap: a run that lasts longer than its interval runs beside the next one, is
// waited for, or is stopped.
func TestSchedules_Overlap(t *testing.T) {
	for _, c := range []struct {
		policy    cronjob.ConcurrencyPolicy
		starts    int
		replaced  int
		most      int
		hasMissed bool
	}{
		{cronjob.Allow, 4, 0, 3, false},
		{cronjob.Forbid, 2, 0, 1, true},
		{cronjob.Replace, 3, 2, 1, false},
	} {
		t.Run(string(c.policy), func(t *testing.T) {
			onBoth(t, func(t *testing.T, address string) {
				w := newWorld(t, address)
				w.must303("PUT", "/schedules/slow", `{"schedule": "*/10 * * * * *", "concurrencyPolicy": "`+string(c.policy)+`"}`)

				// The test plays the pods: each takes 25 seconds.
				worker := w.worker("a", nil)
				starts, replaced, most := map[string]time.Time{}, 0, 0
				for range 41 {
					w.at(w.time.Add(time.Second))
					w.must(w.within(t.Context(), func(t *tx) {
						for _, j := range list(t, func(j *job.Job) []any { return []any{asJSON{j}} }, "SELECT job FROM jobs") {
							stopped := !j.DeletionTimestamp.IsZero()
							if stopped {
								replaced++
								t.report(j.UID)
								t.exec("DELETE FROM jobs WHERE uid = $1", j.UID)
							} else if w.time.Sub(starts[j.Name]) == 25*time.Second {
								t.changeJob(j.UID, func(j *job.Job) {
									j.Status.Conditions = []job.Condition{{Type: job.ConditionComplete, Status: job.ConditionTrue, LastTransitionTime: t.now}}
								})
							}
						}
					}))
					for did := true; did; {
						var err error
						did, err = worker.Tick(t.Context())
						w.must(err)
					}

					running := 0
					w.must(w.within(t.Context(), func(t *tx) {
						for _, j := range list(t, func(j *job.Job) []any { return []any{asJSON{j}} }, "SELECT job FROM jobs") {
							if starts[j.Name].IsZero() {
								starts[j.Name] = w.time
							}
							if j.Status.Finished() == "" {
								running++
							}
						}
					}))
					most = max(most, running)
				}
				if len(starts) != c.starts || replaced != c.replaced || most != c.most {
					t.Errorf("%d runs have started, %d at most at a time, and %d were replaced", len(starts), most, replaced)
				}
				if missed := w.view().Missed; (len(missed) > 0) != c.hasMissed {
					t.Errorf("missed %+v", missed)
				}
			})
		})
	}
}

// TestSchedules_Berlin: 02:30 runs once on the days when the clocks change, even across a restart.
func TestSchedules_Berlin(t *testing.T) {
	for _, c := range []struct {
		name, created string
		looks         []string
		want          string
	}{
		{"October", "2026-10-25T00:00:00Z", []string{"2026-10-25T00:31:00Z", "2026-10-25T01:31:00Z"}, "2026-10-25T02:30:00+02:00"},
		{"March", "2026-03-29T00:00:00Z", []string{"2026-03-29T00:59:00Z", "2026-03-29T01:00:00Z", "2026-03-29T01:31:00Z"}, "2026-03-29T03:00:00+02:00"},
	} {
		t.Run(c.name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, address string) {
				w := newWorld(t, address)
				at := func(text string) {
					now, err := time.Parse(time.RFC3339, text)
					w.must(err)
					w.at(now)
				}

				at(c.created)
				w.must303("PUT", "/schedules/night", `{"schedule": "30 2 * * *", "timeZone": "Europe/Berlin", "payload": "{run}"}`)
				var ran []string
				for _, look := range c.looks {
					at(look)
					worker := w.worker(look, func(_ context.Context, payload string, _ job.Pod) (string, int32) {
						ran = append(ran, payload)
						return "", 0
					})
					w.pass(worker, time.Second)
				}

				if len(ran) != 1 || ran[0] != c.want {
					t.Errorf("ran %s, want %s", ran, c.want)
				}
			})
		})
	}
}

// TestSchedules_Hours: a schedule of some hours runs once in the hour that the clocks repeat, and
// once after the hour that they skip. A schedule of every hour keeps its interval.
func TestSchedules_Hours(t *testing.T) {
	at := func(text string) time.Time {
		now, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return now
	}
	for _, c := range []struct {
		schedule, zone string
		twice, skipped int
	}{
		{"30 2 * * *", "Europe/Berlin", 1, 1},
		{"0 30 2 * * *", "Europe/Berlin", 1, 1},
		{"30 */2 * * *", "Europe/Berlin", 1, 1},
		{"30 * * * *", "Europe/Berlin", 2, 0},
		{"0 30 ? * * *", "Europe/Berlin", 2, 0},
		{"@hourly", "Europe/Berlin", 2, 1},
		{"@every 1h", "Europe/Berlin", 2, 1},
		{"@daily", "Europe/Berlin", 0, 0},
	} {
		of := cronjob.CronJob{Spec: cronjob.Spec{Schedule: c.schedule, TimeZone: &c.zone}, CreationTimestamp: time.Unix(0, 0)}
		compiled := compile(&of)
		twice := compiled.Schedule.Count(at("2026-10-25T01:59:59+02:00"), at("2026-10-25T02:59:00+01:00"))
		skipped := compiled.Schedule.Count(at("2026-03-29T01:59:59+01:00"), at("2026-03-29T03:00:00+02:00"))
		if twice != c.twice || skipped != c.skipped {
			t.Errorf("%s: %d runs, and %d; want %d, and %d", c.schedule, twice, skipped, c.twice, c.skipped)
		}
	}

	// @daily runs once even on a day without a midnight.
	zone := "Asia/Beirut"
	of := cronjob.CronJob{Spec: cronjob.Spec{Schedule: "@daily", TimeZone: &zone}}
	compiled := compile(&of)
	if n := compiled.Schedule.Count(at("2026-03-28T12:00:00Z"), at("2026-03-29T12:00:00Z")); n != 1 {
		t.Errorf("@daily runs %d times on the day without a midnight", n)
	}
}

// TestSchedules_Page: the page shows whether a schedule runs, is paused, or never runs. An edit
// without suspend leaves it paused. Times have their zone, and the text of users is escaped.
func TestSchedules_Page(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		w := newWorld(t, address)
		shows := func(wants string, lacks ...string) {
			t.Helper()
			_, text := w.request("GET", "/", "")
			for want := range strings.SplitSeq(wants, "|") {
				if !strings.Contains(text, want) {
					t.Errorf("the page lacks %q:\n%s", want, text)
				}
			}
			for _, lack := range lacks {
				if strings.Contains(text, lack) {
					t.Errorf("the page has %q:\n%s", lack, text)
				}
			}
		}
		shows("There is none")

		w.must303("PUT", "/schedules/x", `{"schedule": "0 0 31 2 *", "payload": "<script>{run}"}`)
		shows("<td>never|/schedules/x/pause|&lt;script&gt;", "paused", "resume", "<script>")
		w.must303("POST", "/schedules/x/pause", "")
		shows("<td>paused|/schedules/x/resume", "never", "/pause")

		w.must303("PUT", "/schedules/x", `{"schedule": "*/10 * * * * *", "timeZone": "Europe/Berlin"}`)
		shows("*/10 * * * * *|<td>paused", "/pause")
		w.must303("PUT", "/schedules/x", `{"schedule": "*/10 * * * * *", "timeZone": "Europe/Berlin", "suspend": false}`)
		w.pass(w.worker("a", succeed), 11*time.Second)
		shows("<td>2001-09-09 03:47:00 CEST|Complete 01:46:50 UTC|/schedules/x/pause", "never", "paused", "resume")
	})
}

// TestSchedules_SameID: a trigger and a backfill with the same ID are two requests, whichever comes
// first.
func TestSchedules_SameID(t *testing.T) {
	const trigger = "/schedules/tidy/trigger?id=x"
	const backfill = "/schedules/tidy/backfill?id=x&after=2001-09-09T01:40:01Z&until=2001-09-09T01:40:21Z"
	for first, second := range map[string]string{trigger: backfill, backfill: trigger} {
		onBoth(t, func(t *testing.T, address string) {
			w := newWorld(t, address)
			w.must303("PUT", "/schedules/tidy", `{"schedule": "*/10 * * * * *", "suspend": true}`)
			for _, path := range []string{first, first, second, second} {
				w.must303("POST", path, "")
			}
			if n := w.count("requests"); n != 2 {
				t.Errorf("%d requests are stored, %s first", n, first)
			}
			w.pass(w.worker("a", succeed), time.Second)
			if runs, n := w.view().Runs, w.count("requests"); len(runs) != 3 || n != 0 {
				t.Errorf("ran %+v, and %d requests are left, %s first", runs, n, first)
			}
		})
	}
}

// failingTick is a round whose last write fails.
type failingTick struct{ *tick }

func (f failingTick) save(end cronjob.Conclusion) error {
	return errors.Join(f.tick.save(end), errors.New("no space"))
}

// TestSchedules_Failing: a schedule whose round fails is delayed, whatever fails and however the
// schedule became due. Other schedules are planned meanwhile. Once the failing schedule is fixed,
// it continues.
func TestSchedules_Failing(t *testing.T) {
	run := func(statement string) func(*tx, *Worker) {
		return func(t *tx, _ *Worker) { t.exec(statement) }
	}
	for name, spoil := range map[string]func(*tx, *Worker){
		"a write": func(_ *tx, worker *Worker) {
			worker.aroundTick = func(r *tick, _ *cronjob.Plan) cronBackend {
				if r.cron.Name == "bad" {
					return failingTick{r}
				}
				return r
			}
		},
		"a run that cannot be read": run(`INSERT INTO jobs (uid, job, schedule, name)
			SELECT 'x', '{', uid, 'x' FROM schedules WHERE name = 'bad'`),
		"a schedule that cannot be read":    run("UPDATE schedules SET cron = '{' WHERE name = 'bad'"),
		"a schedule that cannot be planned": run("UPDATE schedules SET cron = '{}' WHERE name = 'bad'"),
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, address string) {
				w := newWorld(t, address)
				worker := w.worker("a", succeed)
				ticks := func(want bool, fails bool) {
					t.Helper()
					if did, err := worker.Tick(t.Context()); did != want || (err != nil) != fails {
						t.Errorf("made a round: %v, %v; want %v, and an error: %v", did, err, want, fails)
					}
				}
				w.must303("PUT", "/schedules/bad", `{"schedule": "*/10 * * * * *"}`)
				w.must303("PUT", "/schedules/good", `{"schedule": "*/10 * * * * *"}`)

				var stored string
				w.must(w.db.QueryRow("SELECT cron FROM schedules WHERE name = 'bad'").Scan(&stored))
				w.must(w.within(t.Context(), func(t *tx) {
					t.exec("UPDATE schedules SET due = -1, planned = $1 WHERE name = 'bad'", t.now.Add(time.Hour).UnixMilli())
					t.exec("INSERT INTO news (schedule) SELECT uid FROM schedules WHERE name = 'bad'")
					spoil(t, worker)
				}))
				ticks(false, true)
				ticks(true, false)
				ticks(false, false)

				worker.aroundTick = nil
				w.must(w.within(t.Context(), func(t *tx) {
					t.exec("DELETE FROM jobs WHERE job = '{'")
					t.exec("UPDATE schedules SET cron = $1 WHERE name = 'bad'", stored)
				}))
				w.at(w.time.Add(9 * time.Second))
				ticks(false, false)
				w.at(w.time.Add(2 * time.Second))
				ticks(true, false)
				ticks(true, false)
				ticks(false, false)
				if n := w.count("jobs"); n != 2 {
					t.Errorf("%d runs, want one of each schedule", n)
				}
			})
		})
	}
}

// TestSchedules_Log: a round that was rolled back is not logged, but the one that repeats it is.
func TestSchedules_Log(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		var text strings.Builder
		output, level := log.Writer(), slog.SetLogLoggerLevel(slog.LevelInfo)
		log.SetOutput(&text)
		defer log.SetOutput(output)
		defer slog.SetLogLoggerLevel(level)

		w := newWorld(t, address)
		worker := w.worker("a", succeed)
		w.must303("PUT", "/schedules/tidy", `{"schedule": "*/10 * * * * *"}`)
		w.at(w.time.Add(25 * time.Second)) // two runs came due: one starts, and one is missed
		worker.aroundTick = func(r *tick, _ *cronjob.Plan) cronBackend { return failingTick{r} }
		if did, err := worker.Tick(t.Context()); did || err == nil {
			t.Errorf("made a round: %v, %v", did, err)
		}
		if text.String() != "" {
			t.Errorf("logged what was rolled back:\n%s", &text)
		}

		worker.aroundTick = nil
		w.at(w.time.Add(11 * time.Second))
		if did, err := worker.Tick(t.Context()); !did || err != nil {
			t.Errorf("made a round: %v, %v", did, err)
		}
		for _, want := range []string{"reason=SuccessfulCreate", "runs will not start"} {
			if strings.Count(text.String(), want) != 1 {
				t.Errorf("want %q once:\n%s", want, &text)
			}
		}
	})
}

// TestSchedules_Forget: the number of compiled schedules has a limit, so those of removed schedules
// are dropped in the end.
func TestSchedules_Forget(t *testing.T) {
	w := newWorld(t, filepath.Join(t.TempDir(), "state.db"))
	worker := w.worker("a", succeed)
	worker.compiled = map[job.UID]cronjob.Compiled{}
	for i := range 1000 {
		worker.compiled[job.UID(fmt.Sprint("removed-", i))] = cronjob.Compiled{}
	}
	w.must303("PUT", "/schedules/tidy", `{"schedule": "*/10 * * * * *"}`)
	w.pass(worker, 11*time.Second)
	if n := len(worker.compiled); n != 1 || len(w.view().Runs) != 1 {
		t.Errorf("%d schedules are kept, and ran %+v", n, w.view().Runs)
	}
}

// TestSchedules_Refused: a schedule that cannot be planned is refused immediately. Other errors are
// not the fault of the user.
func TestSchedules_Refused(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		w, long := newWorld(t, address), strings.Repeat("x", 1<<20)
		w.must303("PUT", "/schedules/good", `{"schedule": "0 9 * * 1-5", "timeZone": "Europe/Berlin"}`)
		for _, c := range []struct {
			method, path, body string
			want               int
		}{
			{"PUT", "/schedules/a", `{"schedule": "every day"}`, http.StatusBadRequest},
			{"PUT", "/schedules/a", `{"schedule": "0 9 * * *", "timeZone": "Europe/Bonn"}`, http.StatusBadRequest},
			{"PUT", "/schedules/A_b", `{"schedule": "0 9 * * *"}`, http.StatusBadRequest},
			{"PUT", "/schedules/a", `{"schedule": "0 9 * * *", "job": {"parallelism": -1}}`, http.StatusBadRequest},
			{"PUT", "/schedules/a", `{`, http.StatusBadRequest},
			{"PUT", "/schedules/a", `{"schedule": "0 9 * * *", "zone": "Europe/Berlin"}`, http.StatusBadRequest},
			{"PUT", "/schedules/a", `{"schedule": "0 9 * * *", "job": {"paralelism": 2}}`, http.StatusBadRequest},
			{"PUT", "/schedules/a", `{"schedule": "0 9 * * *", "jobTemplate": {"spec": {}}}`, http.StatusBadRequest},
			{"PUT", "/schedules/a", `{"schedule": "0 9 * * *", "payload": "` + long + `"}`, http.StatusBadRequest},
			{"POST", "/schedules/a/pause", "", http.StatusNotFound},
			{"POST", "/schedules/a/trigger", "", http.StatusNotFound},
			{"POST", "/schedules/good/backfill?after=2001-09-09T00:00:00Z&until=2001-09-08T00:00:00Z", "", http.StatusBadRequest},
			{"POST", "/schedules/good/backfill?after=now", "", http.StatusBadRequest},
		} {
			if code, text := w.request(c.method, c.path, c.body); code != c.want {
				t.Errorf("%s %s %.99s: %d %s", c.method, c.path, c.body, code, text)
			}
		}
		if w.count("schedules") != 1 || w.count("requests") != 0 {
			t.Error("something was stored")
		}

		w.db.Close()
		for _, c := range [][3]string{
			{"GET", "/"},
			{"PUT", "/schedules/good", `{"schedule": "0 9 * * *"}`},
			{"DELETE", "/schedules/good"},
			{"POST", "/schedules/good/pause"},
			{"POST", "/schedules/good/trigger"},
		} {
			if code, text := w.request(c[0], c[1], c[2]); code != http.StatusInternalServerError {
				t.Errorf("%s %s without a database: %d %s", c[0], c[1], code, text)
			}
		}
	})
}

// TestSchedules_Answer: the spec in the answer has what users wrote, and can be sent again.
func TestSchedules_Answer(t *testing.T) {
	w := newWorld(t, filepath.Join(t.TempDir(), "state.db"))
	w.must303("PUT", "/schedules/tidy", `{"schedule": "0 9 LW * fri#2", "payload": "sum x", "job": {"backoffLimit": 3}}`)
	_, text := w.request("GET", "/schedules", "")
	var views []struct{ Spec json.RawMessage }
	w.must(json.Unmarshal([]byte(text), &views))
	if len(views) != 1 || strings.Contains(text, "jobTemplate") || !strings.Contains(text, `"backoffLimit":3`) {
		t.Fatal(text)
	}

	w.must303("PUT", "/schedules/tidy", string(views[0].Spec))
	if _, again := w.request("GET", "/schedules", ""); again != text {
		t.Errorf("sent again it is %s, was %s", again, text)
	}
}

// TestSchedules_Types: an answer has its Content-Type.
func TestSchedules_Types(t *testing.T) {
	w := newWorld(t, filepath.Join(t.TempDir(), "state.db"))
	for path, want := range map[string]string{"/": "text/html; charset=utf-8", "/schedules": "application/json"} {
		recorder := httptest.NewRecorder()
		w.Handler().ServeHTTP(recorder, httptest.NewRequestWithContext(t.Context(), "GET", path, nil))
		if got := recorder.Header().Get("Content-Type"); got != want {
			t.Errorf("GET %s is %s, want %s", path, got, want)
		}
	}
}
