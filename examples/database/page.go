package main

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	_ "embed"
	"encoding/json"
	"errors"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/batchplan/batchplan/cronjob"
)

// View is a schedule with its latest runs.
type View struct {
	Name   string
	Spec   Schedule
	Paused bool
	Next   time.Time // zero while it is paused, and if it never runs
	Runs   []Run
	Missed []Missed
}

// Run is a job of a schedule.
type Run struct {
	Job        string
	Start, End time.Time // zero until then
	Result     string    // Complete or Failed
}

// Missed are runs that have not started, and will not.
type Missed struct {
	Reason string
	Runs   int
	Latest time.Time
}

// Views reads all schedules.
func (s *Store) Views(ctx context.Context) (views []View, err error) {
	err = s.within(ctx, func(t *tx) {
		for _, r := range list(t, (*row).columns, "SELECT "+rowColumns+" FROM schedules ORDER BY name") {
			spec := Schedule{Spec: r.cron.Spec, Job: r.job, Payload: r.payload}
			v := View{Name: r.cron.Name, Spec: spec, Paused: *r.cron.Spec.Suspend}
			if compiled := compile(&r.cron); !v.Paused {
				v.Next = compiled.Schedule.Next(t.now)
			}

			children := t.children(&r.cron, "")
			slices.SortFunc(children, func(a, b cronjob.Child) int {
				return b.CreationTimestamp.Compare(a.CreationTimestamp)
			})
			for _, c := range children[:min(len(children), 8)] {
				v.Runs = append(v.Runs, Run{c.Name, c.StartTime, c.FinishTime, string(c.Finished)})
			}

			v.Missed = list(t, func(m *Missed) []any { return []any{&m.Reason, &m.Runs, asTime{&m.Latest}} },
				"SELECT reason, runs, latest FROM missed WHERE schedule = $1 ORDER BY latest DESC LIMIT 3", r.cron.UID)
			views = append(views, v)
		}
	})
	return views, err
}

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Parse(pageText))

// Handler serves the page, the schedules as JSON, and the requests of users. It does not
// authenticate users: let a proxy do that.
func (s *Store) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.show("text/html; charset=utf-8", func(views []View) ([]byte, error) {
		var b bytes.Buffer
		err := page.Execute(&b, views)
		return b.Bytes(), err
	}))
	mux.HandleFunc("GET /schedules", s.show("application/json", func(views []View) ([]byte, error) {
		return json.Marshal(views)
	}))

	for pattern, do := range map[string]func(r *http.Request, name string) error{
		"PUT /schedules/{name}": func(r *http.Request, name string) error {
			o, err := scheduleOf(r)
			if err != nil {
				return err
			}
			return s.Put(r.Context(), name, o)
		},
		"DELETE /schedules/{name}": func(r *http.Request, name string) error { return s.Remove(r.Context(), name) },

		"POST /schedules/{name}/pause": func(r *http.Request, name string) error {
			return s.Pause(r.Context(), name, true)
		},
		"POST /schedules/{name}/resume": func(r *http.Request, name string) error {
			return s.Pause(r.Context(), name, false)
		},

		"POST /schedules/{name}/trigger": func(r *http.Request, name string) error {
			return s.Trigger(r.Context(), name, cronjob.Trigger{ID: s.idOf(r)})
		},
		"POST /schedules/{name}/backfill": func(r *http.Request, name string) error {
			after, noAfter := time.Parse(time.RFC3339, r.FormValue("after"))
			until, noUntil := time.Parse(time.RFC3339, r.FormValue("until"))
			if err := errors.Join(noAfter, noUntil); err != nil {
				return refuse(err)
			}
			b := cronjob.Backfill{ID: s.idOf(r), After: after, Until: until, Overlap: cronjob.Forbid}
			return s.Backfill(r.Context(), name, b)
		},
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			r.Body = http.MaxBytesReader(w, r.Body, 1<<20)
			switch err := do(r, r.PathValue("name")); {
			case errors.Is(err, sql.ErrNoRows):
				http.Error(w, err.Error(), http.StatusNotFound)
			case errors.Is(err, errRefused):
				http.Error(w, err.Error(), http.StatusBadRequest)
			case err != nil:
				http.Error(w, err.Error(), http.StatusInternalServerError)
			default:
				http.Redirect(w, r, "/", http.StatusSeeOther)
			}
		})
	}
	return http.NewCrossOriginProtection().Handler(mux) // pages of other sites cannot send requests
}

// scheduleOf reads a schedule. A field that would have no effect is refused.
func scheduleOf(r *http.Request) (Schedule, error) {
	o := Schedule{Job: once()}
	decoder := json.NewDecoder(r.Body)
	decoder.DisallowUnknownFields()

	err := decoder.Decode(&o)
	if err == nil && o.JobTemplate != nil {
		err = errors.New("jobTemplate: the job of a run is in the field job")
	}
	return o, refuse(err)
}

// idOf returns the ID of a request, or a new one. Users who send an ID can repeat the request.
func (s *Store) idOf(r *http.Request) string {
	return cmp.Or(r.FormValue("id"), strings.ToLower(s.newID()))
}

// show returns a handler that answers with all schedules.
func (s *Store) show(kind string, write func([]View) ([]byte, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		views, err := s.Views(r.Context())
		var text []byte
		if err == nil {
			text, err = write(views)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}

		w.Header().Set("Content-Type", kind)
		_, _ = w.Write(text)
	}
}
