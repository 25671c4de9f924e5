package read

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
)

func (o *Objects) addJob(at Position, data []byte, m *Meta, place int) error {
	decoded, err := job.DecodeJob(data)
	if err != nil {
		return err
	}
	j := &Job{Meta: *m, Object: decoded, At: at, IsManifest: m.UID == ""}
	if j.IsManifest {
		j.Object.UID = manifestUID(at, j.Key())
		j.UID = j.Object.UID
	}
	job.Default(&j.Object.Spec)
	for _, c := range j.Object.Status.Conditions {
		o.see(c.LastTransitionTime)
	}
	o.see(j.Object.Status.StartTime)
	o.Jobs = put(o.Jobs, place, j)
	return nil
}

func (o *Objects) addCronJob(at Position, data []byte, m *Meta, place int) error {
	decoded, err := cronjob.DecodeCronJob(data)
	if err != nil {
		return err
	}
	c := &CronJob{Meta: *m, Object: decoded, At: at, IsManifest: m.UID == ""}
	if c.IsManifest {
		c.Object.UID = manifestUID(at, c.Key())
		c.UID = c.Object.UID
	}
	cronjob.Default(&c.Object.Spec)
	o.see(c.Object.Status.LastScheduleTime)
	o.CronJobs = put(o.CronJobs, place, c)
	return nil
}

// manifestUID stands for the UID that a server would give.
func manifestUID(at Position, key string) job.UID {
	return job.UID(fmt.Sprintf("manifest %s %s", key, at))
}

// podMore is what explanations need of a pod beyond the planner's view.
type podMore struct {
	Spec struct {
		NodeName string `json:"nodeName"`
	} `json:"spec"`
	Status struct {
		Reason     string    `json:"reason"`
		Message    string    `json:"message"`
		StartTime  time.Time `json:"startTime"`
		Conditions []struct {
			Type    string `json:"type"`
			Status  string `json:"status"`
			Reason  string `json:"reason"`
			Message string `json:"message"`
		} `json:"conditions"`
		InitContainerStatuses []containerMore `json:"initContainerStatuses"`
		ContainerStatuses     []containerMore `json:"containerStatuses"`
	} `json:"status"`
}

type containerMore struct {
	Name         string        `json:"name"`
	RestartCount int32         `json:"restartCount"`
	State        containerThen `json:"state"`
	LastState    containerThen `json:"lastState"`
}

type containerThen struct {
	Waiting    *containerSays `json:"waiting"`
	Terminated *containerSays `json:"terminated"`
}

type containerSays struct {
	Reason     string    `json:"reason"`
	Message    string    `json:"message"`
	ExitCode   int32     `json:"exitCode"`
	FinishedAt time.Time `json:"finishedAt"`
}

func (o *Objects) addPod(at Position, data []byte, head *envelope, place int) error {
	m, more := &head.Metadata, &head.podMore
	// The job is not known yet; Snapshot decides what the pod is to it.
	decoded, err := job.DecodePod(&job.Job{Namespace: m.Namespace}, data)
	if err != nil {
		return err
	}
	p := &Pod{
		Meta: *m, Object: decoded, At: at,
		StartTime: more.Status.StartTime, Node: more.Spec.NodeName,
		Reason: more.Status.Reason, Message: more.Status.Message,
	}
	if m.UID == "" {
		p.Object.UID = manifestUID(at, p.Key())
		p.UID = p.Object.UID
	}
	p.Annotations = nil // the planner's view has what matters
	for _, c := range more.Status.Conditions {
		if c.Type == "PodScheduled" && c.Status == "False" {
			p.Unscheduled = c.Message
		}
	}
	for _, list := range [...][]containerMore{more.Status.InitContainerStatuses, more.Status.ContainerStatuses} {
		for i := range list {
			p.addReason(&list[i])
			o.see(list[i].finished())
		}
	}
	o.see(p.StartTime)
	o.Pods = put(o.Pods, place, p)
	return nil
}

func (c *containerMore) finished() time.Time {
	if c.State.Terminated == nil {
		return time.Time{}
	}
	return c.State.Terminated.FinishedAt
}

func (p *Pod) addReason(c *containerMore) {
	says := ContainerReason{Container: c.Name, Restarts: c.RestartCount}
	switch {
	case c.State.Waiting != nil && c.State.Waiting.Reason != "":
		says.Waiting, says.Reason, says.Message = true, c.State.Waiting.Reason, c.State.Waiting.Message
		if last := c.LastState.Terminated; last != nil {
			says.ExitCode = last.ExitCode
		}
	case c.State.Terminated != nil && c.State.Terminated.ExitCode != 0:
		t := c.State.Terminated
		says.Reason, says.Message, says.ExitCode = t.Reason, t.Message, t.ExitCode
	default:
		return
	}
	p.Stuck = append(p.Stuck, says)
}

func (o *Objects) addEvent(data []byte) error {
	var e struct {
		Type           string    `json:"type"`
		Reason         string    `json:"reason"`
		Message        string    `json:"message"`
		Count          int       `json:"count"`
		FirstTimestamp time.Time `json:"firstTimestamp"`
		LastTimestamp  time.Time `json:"lastTimestamp"`
		EventTime      time.Time `json:"eventTime"`
		Series         *struct {
			Count            int       `json:"count"`
			LastObservedTime time.Time `json:"lastObservedTime"`
		} `json:"series"`
		InvolvedObject struct {
			Kind string  `json:"kind"`
			UID  job.UID `json:"uid"`
		} `json:"involvedObject"`
	}
	if err := json.Unmarshal(data, &e); err != nil {
		return err
	}
	if kind := e.InvolvedObject.Kind; kind != "Job" && kind != "CronJob" {
		return nil
	}
	event := Event{Type: e.Type, Reason: e.Reason, Message: e.Message, First: e.FirstTimestamp, Last: e.LastTimestamp, Count: max(e.Count, 1)}
	if event.Last.IsZero() {
		event.First, event.Last = e.EventTime, e.EventTime
	}
	if e.Series != nil {
		event.Count, event.Last = e.Series.Count, e.Series.LastObservedTime
	}
	o.see(event.Last)
	if o.Events == nil {
		o.Events = make(map[job.UID][]Event)
	}
	o.Events[e.InvolvedObject.UID] = append(o.Events[e.InvolvedObject.UID], event)
	o.changed(Change{Kind: "Event", Key: e.Reason, Owner: e.InvolvedObject.UID})
	return nil
}
