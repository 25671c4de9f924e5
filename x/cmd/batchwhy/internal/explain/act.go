package explain

import (
	"encoding/json"
	"slices"
	"strings"
)

// Verb names what an act does to its object.
type Verb string

// The verbs of acts.
const (
	Patches Verb = "patch"  // sets fields
	Deletes Verb = "delete" // removes the object, and what it owns
	Applies Verb = "apply"  // creates the object from its corrected manifest
	Edits   Verb = "edit"   // corrects the fields that the remedy names
	Starts  Verb = "start"  // creates a Job from a CronJob
	Ends    Verb = "end"    // lets a container end with an exit code
)

// Act is one action of a remedy on an object, with the command for it. TestRemedies carries out
// each act in memory and checks the result.
type Act struct {
	Verb                  Verb
	Kind, Namespace, Name string
	// Patch is a merge patch with the fields to set, as JSON.
	Patch []byte
	// Container is the container that ends, with exit code Code.
	Container string
	Code      int32
	Command   string
}

func does(do, risk string, acts ...*Act) *Remedy {
	var commands []string
	for _, a := range acts {
		commands = append(commands, a.Command)
	}
	r := remedy(do, strings.Join(commands, " && "), risk)
	r.acts = &acts
	return r
}

// Acts returns what the command does to Jobs, CronJobs and pods. There are no acts if the command
// only shows something.
func (r *Remedy) Acts() []*Act {
	if r.acts == nil {
		return nil
	}
	return *r.acts
}

// patch sets one field, such as "spec.parallelism".
func patch(namespace, kind, name, field string, value any) *Act {
	for _, key := range slices.Backward(strings.Split(field, ".")) {
		value = map[string]any{key: value}
	}
	data, _ := json.Marshal(value) // strings, numbers and maps of them always encode
	return merge(namespace, kind, name, string(data))
}

// merge returns the Act "kubectl patch" that sets the given fields, a JSON object, with a merge
// patch.
func merge(namespace, kind, name, fields string, options ...string) *Act {
	args := append([]string{"patch", kind, name}, append(options, "--type=merge", "-p", fields)...)
	return &Act{
		Verb:      Patches,
		Kind:      kind,
		Namespace: namespace,
		Name:      name,
		Patch:     []byte(fields),
		Command:   kubectl(namespace, args...),
	}
}

func remove(namespace, kind, name string, options ...string) *Act {
	args := append([]string{"delete", kind, name}, options...)
	return &Act{Verb: Deletes, Kind: kind, Namespace: namespace, Name: name, Command: kubectl(namespace, args...)}
}

// apply creates an object from its corrected manifest.
func apply(namespace, kind, name string) *Act {
	return &Act{
		Verb:      Applies,
		Kind:      kind,
		Namespace: namespace,
		Name:      name,
		Command:   kubectl(namespace, "apply", "-f", kind+".yaml"),
	}
}

func edit(namespace, kind, name string) *Act {
	return &Act{
		Verb:      Edits,
		Kind:      kind,
		Namespace: namespace,
		Name:      name,
		Command:   kubectl(namespace, "edit", kind, name),
	}
}

// start creates a Job from the template of a CronJob.
func start(namespace, cronJob, name string) *Act {
	return &Act{
		Verb:      Starts,
		Kind:      "job",
		Namespace: namespace,
		Name:      name,
		Command:   kubectl(namespace, "create", "job", "--from=cronjob/"+cronJob, name),
	}
}

// end returns an act: a container of a pod ends with an exit code.
func end(namespace, pod, container string, code int32, command string) *Act {
	return &Act{
		Verb:      Ends,
		Kind:      "pod",
		Namespace: namespace,
		Name:      pod,
		Container: container,
		Code:      code,
		Command:   command,
	}
}
