package explain

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/read"
	"github.com/batchplan/batchplan/x/cmd/internal/nearest"
)

// This file joins a Job with the objects of other kinds that it names, that select its pods, or that own
// it or are owned by it, and says what is wrong with them.

// hint is what is known of a related object. A trouble may come from it if it has the object's name, or
// contains one of the words in points.
type hint struct {
	text     string // continues a sentence
	name     string
	points   []string // in small letters
	remedies []*Remedy
	// alone is true for a hint that is a finding even if no trouble points to it.
	alone bool
	// instead is true if the remedies take the place of the first one, which was made without the fact.
	instead bool
	// settles is true if the hint is the whole cause, so that no other remedy is left.
	settles bool
	// later is true if the remedies only look at what the trouble has led to.
	later bool
}

// join adds what is known of related objects to the findings. A hint to which a trouble points becomes a
// part of the trouble, and its remedies come first.
func (l *look) join(all []Finding) []Finding {
	var wrong []string
	for _, f := range all {
		if f.Severity != Note {
			wrong = append(wrong, f.Text)
		}
	}
	joined := make(map[int]bool)
	for _, r := range l.related(strings.Join(wrong, " ")) {
		if slices.ContainsFunc(all, func(f Finding) bool { return r.isQuoted(&f) }) {
			continue
		}
		i := slices.IndexFunc(all, func(f Finding) bool {
			return f.Severity != Note && (r.isIn(f.Text) || l.gonePoints(&f, &r))
		})
		switch {
		case i >= 0:
			f := &all[i]
			f.Text = sentence(strings.TrimSuffix(f.Text, ".") + "; " + r.text)
			switch isSure := f.Code == "QueueWaits" && f.Severity == Error; {
			case isSure:
				f.Remedies = slices.Concat(f.Remedies, r.remedies)
			case r.settles:
				f.Remedies = r.remedies
			case r.later:
				f.Remedies = slices.Concat(f.Remedies, r.remedies)
			case r.instead && !joined[i] && len(f.Remedies) > 0:
				f.Remedies = slices.Concat(r.remedies, f.Remedies[1:])
			default:
				f.Remedies = slices.Concat(r.remedies, f.Remedies)
			}
			joined[i] = true
		case i < 0 && r.alone:
			all = append(all, finding(Note, "Related", r.text, r.remedies...))
		}
	}
	return all
}

// isQuoted reports whether a finding says already what a hint is about.
func (r *hint) isQuoted(f *Finding) bool {
	_, message, _ := strings.Cut(r.text, "): ")
	message = message[:min(len(message), 30)]
	return strings.Contains(f.Text, r.text) || message != "" && strings.Contains(f.Text, message)
}

// isIn reports whether a text points to a hint.
func (r *hint) isIn(text string) bool {
	return contains(text, r.points...) || r.name != "" && slices.Contains(wordsIn(text), r.name)
}

// wordsIn returns the parts of a text that may be names, hosts or addresses.
func wordsIn(text string) []string {
	words := strings.FieldsFunc(text, func(r rune) bool {
		const name = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.:-_"
		return !strings.ContainsRune(name, r)
	})
	for i, w := range words {
		words[i] = strings.Trim(w, ".:")
	}
	return words
}

// gonePoints reports whether the last warning about a pod that is gone points to a hint, if the Job has
// failed.
func (l *look) gonePoints(f *Finding, r *hint) bool {
	if f.Code != "JobFailed" && f.Code != "JobFails" {
		return false
	}
	for _, p := range l.gone {
		if e := latestWarning(p.events); e != nil && r.isIn(e.Message) {
			return true
		}
	}
	return false
}

// related returns what is known of related objects. If nothing is wrong with the Job, only what is wrong
// with its owners counts.
func (l *look) related(wrong string) []hint {
	all := l.e.keptHints(&l.job.Meta)
	for _, o := range l.job.Owners {
		x, what := l.e.other(o.Kind, l.job.Namespace, o.Name), "which owns the Job"
		if o.Controller {
			what = "which has created the Job"
		}
		if x != nil && x.UID == o.UID {
			all = append(all, l.jobSetHints(x)...)
			all = append(all, l.e.hintOf(x, what)...)
		}
	}
	if wrong == "" && !l.isSuspended() {
		return all
	}

	uids := []job.UID{l.job.UID}
	for _, p := range l.pods {
		uids = append(uids, p.UID)
	}
	for _, uid := range uids {
		for _, x := range l.e.owned[uid] {
			all = append(all, l.e.hintOf(x, "which belongs to the Job")...)
		}
	}
	return slices.Concat(all, l.namedHints(wordsIn(wrong)), l.rightsHints(), l.hostHints(), l.policyHints(),
		l.nodeHints(), l.twinHints(), l.runtimeHints(), l.pullHints(wrong), l.queueHints(), l.injectedHints(),
		l.ownHints())
}

// pointsTo has the words by which a trouble points to an object of a kind.
var pointsTo = map[string][]string{
	"PersistentVolumeClaim": {"volume", "persistentvolumeclaim", "mount"},
	"ResourceClaim":         {"claim", "dynamicresources"},
	"Workload":              {"kueue"},
	"LocalQueue":            {"kueue"},
	"ClusterQueue":          {"kueue"},
}

// other returns the object of a kind that an input has, or nil.
func (e *Explainer) other(kind, namespace, name string) *read.Other {
	all := e.objects.Kept[kind]
	if x := all[namespace+"/"+name]; x != nil {
		return x
	}
	return all[name] // without a namespace
}

// othersIn returns the objects of a kind in a namespace or without one, by name.
func (e *Explainer) othersIn(kind, namespace string) []*read.Other {
	all := e.there[kind+" "]
	if namespace != "" {
		all = slices.Concat(e.there[kind+" "+namespace], all)
	}
	return all
}

func namesOf(all []*read.Other) (names []string) {
	for _, x := range all {
		names = append(names, x.Name)
	}
	return names
}

// sortOthers notes the objects of other kinds by kind and namespace, and by their owners.
func (e *Explainer) sortOthers() {
	e.owned, e.there = make(map[job.UID][]*read.Other), make(map[string][]*read.Other)
	for _, kind := range sortedKeys(e.objects.Kept) {
		for _, key := range sortedKeys(e.objects.Kept[kind]) {
			x := e.objects.Kept[kind][key]
			e.there[kind+" "+x.Namespace] = append(e.there[kind+" "+x.Namespace], x)
			for _, o := range x.Owners {
				e.owned[o.UID] = append(e.owned[o.UID], x)
			}
		}
	}
}

// stops are fields and values of objects of other kinds that mean trouble.
var stops = []struct{ path, values string }{
	{"spec.active", "false"},
	{"spec.suspend", "true"},
	{"spec.stopPolicy", "Hold HoldAndDrain"},
	{"spec.replicas", "0"},
	{"status.phase", "Pending Lost Released Failed Error Degraded Terminating"},
	{"status.health.status", "Degraded Missing"},
	{"status.operationState.phase", "Failed Error"},
	{"status.terminalState", "Failed"},
}

// messages are the fields that say more about a trouble.
var messages = []string{"status.operationState.message", "status.message", "status.attachError.message",
	"status.detachError.message"}

// isBad reports whether a condition means trouble. Most types name what is good, and some what is bad.
func isBad(c read.Condition) bool {
	if contains(c.Type, "fail", "error", "degraded", "stalled", "evicted", "denied", "invalid", "deactivat",
		"unavailable", "suspended") {
		return c.Status == "True" || c.Status == "" // those of an Application have no status
	}
	const good = " Ready Available Bound Admitted QuotaReserved Active Synced Healthy Initialized Issued Released " +
		"Accepted SecretSynced "
	return c.Status != "True" && strings.Contains(good, " "+c.Type+" ")
}

// troubleWith describes what is wrong with an object of another kind, or returns "".
func (e *Explainer) troubleWith(x *read.Other) string {
	var parts []string
	if d := x.DeletionTimestamp; !d.IsZero() {
		parts = append(parts, "has been terminating since "+e.clock(d))
	}
	for _, s := range stops {
		if v := x.At(s.path); v != nil && slices.Contains(strings.Fields(s.values), fmt.Sprint(v)) {
			parts = append(parts, fmt.Sprintf("has %s %v", s.path, v))
		}
	}

	if x.Kind == "ResourceClaim" && x.At("status.allocation") == nil {
		parts = append(parts, "has no device yet")
	}

	said := func(message string) bool {
		return message != "" && strings.Contains(strings.Join(parts, " "), told(message))
	}
	for _, c := range x.Conditions {
		if isBad(c) && len(parts) < 3 && x.Kind != "Workload" { // queueFinding reports those
			why := told(strings.Trim(c.Reason+": "+c.Message, ": "))
			if said(c.Message) {
				why = c.Reason
			}
			parts = append(parts, fmt.Sprintf("is %s: %s since %s%s", c.Type, cmp.Or(c.Status, "True"), e.clock(c.At),
				after(", ", why)))
		}
	}

	for _, path := range messages {
		isGood := path == messages[0] && x.At("status.operationState.phase") == "Succeeded"
		m, _ := x.At(path).(string)
		if isNew := m != "" && !said(m); isNew && !isGood && len(parts) < 3 {
			parts = append(parts, "says: "+told(m))
		}
	}

	if len(parts) == 0 && x.Kind != "PersistentVolumeClaim" {
		return ""
	}
	text := strings.Join(parts, ", and ")
	return text + e.reported(x, text)
}

func (e *Explainer) eventsOf(x *read.Other) []read.Event {
	return e.objects.EventsOf(x.Kind, &read.Meta{Namespace: x.Namespace, Name: x.Name})
}

// reported quotes the newest event of an object of another kind, or its newest warning, after a text that
// may have its message.
func (e *Explainer) reported(x *read.Other, text string) string {
	also := text != ""
	events := e.eventsOf(x)
	last := latestWarning(events)
	for i := range events {
		if last == nil && also {
			last = &events[i]
		}
	}
	if last == nil || also && strings.Contains(text, told(last.Message)) {
		return ""
	}
	and := "; its last event, "
	if !also {
		and = "has a warning, "
	}
	return fmt.Sprintf("%s%s %s: %s", and, last.Reason, e.at(last.Last), told(last.Message))
}

// hintOf returns what is wrong with an object of another kind, if anything is.
func (e *Explainer) hintOf(x *read.Other, what string) []hint {
	why := e.troubleWith(x)
	if why == "" {
		return nil
	}
	return []hint{{
		text: fmt.Sprintf("%s %s, %s, %s", x.Kind, x.Key(), what, why),
		name: x.Name, points: pointsTo[x.Kind], alone: true, remedies: e.remediesFor(x),
	}}
}

// remediesFor say what to do about an object of another kind that is in trouble.
func (e *Explainer) remediesFor(x *read.Other) []*Remedy {
	kind := strings.ToLower(x.Kind)
	const ask = "whoever has stopped it may have had a reason: ask first"
	if active, is := x.At("spec.active").(bool); is && !active {
		return []*Remedy{remedy(fmt.Sprintf("let Kueue admit the Job again: set active of workload %s to true", x.Name),
			kubectl(x.Namespace, "patch", kind, x.Name, "--type=merge", "-p", `{"spec":{"active":true}}`),
			ask+"; Kueue sets it to false itself after too many evictions, or if an admission check rejects it")}
	}
	if s, _ := x.At("spec.stopPolicy").(string); s != "" && s != "None" {
		return []*Remedy{remedy(fmt.Sprintf("let %s %s admit Jobs again", x.Kind, x.Name),
			kubectl(x.Namespace, "patch", kind, x.Name, "--type=merge", "-p", `{"spec":{"stopPolicy":"None"}}`),
			ask+"; all that wait in it start then as far as there is quota")}
	}
	if lastEvent(e.eventsOf(x), "ExternalProvisioning") != nil {
		return []*Remedy{inspect("look whether the pods of the driver that the event names run: they make the volume",
			"kubectl get csidrivers && kubectl get pods -A -o wide | grep -i csi")}
	}
	return []*Remedy{inspect(fmt.Sprintf("look at %s %s, and at its events", x.Kind, x.Name),
		kubectl(x.Namespace, "describe", kind, x.Name))}
}

// reference is an object that a pod template names. The key is the one that it needs of a ConfigMap or a
// Secret, or empty.
type reference struct {
	kind, name, key string
	optional        bool
}

// references are the fields of a pod template that name an object, and its kind.
var references = map[string][2]string{
	"configMap":             {"ConfigMap", "name"},
	"configMapRef":          {"ConfigMap", "name"},
	"configMapKeyRef":       {"ConfigMap", "name"},
	"secret":                {"Secret", "secretName"},
	"secretRef":             {"Secret", "name"},
	"secretKeyRef":          {"Secret", "name"},
	"persistentVolumeClaim": {"PersistentVolumeClaim", "claimName"},
}

// namings are the fields of a pod template whose values are names of objects.
var namings = map[string]string{
	"serviceAccountName":        "ServiceAccount",
	"priorityClassName":         "PriorityClass",
	"runtimeClassName":          "RuntimeClass",
	"resourceClaimName":         "ResourceClaim",
	"resourceClaimTemplateName": "ResourceClaimTemplate",
	"secretProviderClass":       "SecretProviderClass",
}

// referencesIn finds the objects that a pod template names.
func referencesIn(value any) (all []reference) {
	switch value := value.(type) {
	case []any:
		for _, v := range value {
			all = append(all, referencesIn(v)...)
		}
	case map[string]any:
		for _, key := range sortedKeys(value) {
			inner, name := value[key], ""
			if r, is := references[key]; is {
				name = cmp.Or(str(inner, r[1]), str(inner, "name")) // a projected Secret has a name
				optional, _ := read.At(inner, "optional").(bool)
				all = append(all, reference{r[0], name, str(inner, "key"), optional})
			} else if name, _ = inner.(string); namings[key] != "" {
				all = append(all, reference{kind: namings[key], name: name})
			}
			if key == "imagePullSecrets" {
				for _, s := range elements(inner) {
					all = append(all, reference{kind: "Secret", name: str(s, "name")})
				}
			}
			all = append(all, referencesIn(inner)...)
		}
	}
	return all
}

func elements(value any) []any {
	all, _ := value.([]any)
	return all
}

// template returns the pod template of the Job, decoded, or nil.
func (l *look) template() map[string]any {
	var s struct{ Template map[string]any }
	_ = json.Unmarshal(l.job.Spec, &s)
	return s.Template
}

// namedHints are about the objects that the pod template names: what is wrong with them, or that the
// input lacks them although it has others.
func (l *look) namedHints(wrong []string) (all []hint) {
	ns := l.job.Namespace
	refs := referencesIn(l.template()["spec"])
	for _, p := range l.pods[:min(1, len(l.pods))] { // a claim of its own
		for _, claim := range p.Spec.Claims {
			refs = append(refs, reference{kind: "PersistentVolumeClaim", name: claim})
		}
	}

	seen := make(map[reference]bool)
	for _, r := range refs {
		if r.name == "" || seen[r] {
			continue
		}
		seen[r] = true

		x := l.e.other(r.kind, ns, r.name)
		if x == nil {
			if there := l.e.othersIn(r.kind, ns); !r.optional && len(there) > 0 && l.e.objects.HasAll() {
				all = append(all, l.lacked(r, there))
			}
			if slices.Contains(wrong, r.name) {
				all = append(all, l.makers(r)...)
			}
			continue
		}
		all = append(all, l.e.hintOf(x, "which the pod template names")...)
		all = append(all, l.lackedKey(r, x)...)
		all = append(all, l.volumeHints(x)...)
	}
	return all
}

// lacked reports an object that the pod template names and that the input lacks.
func (l *look) lacked(r reference, there []*read.Other) hint {
	names := namesOf(there)
	text := fmt.Sprintf("the input has %s, and no %s %s: it has %s", count(int64(len(there)), "object of kind "+r.kind,
		"objects of kind "+r.kind), r.kind, r.name, list(names))
	var remedies []*Remedy
	if near := nearName(r.name, names); near != "" {
		remedies = []*Remedy{when(fmt.Sprintf("%s is meant", near), l.again(fmt.Sprintf("write %s instead of %s", near,
			r.name)))}
	}
	return hint{text: text, name: r.name, remedies: remedies}
}

// nearName returns the name that was probably meant: one that is like it, or the only one that it begins.
func nearName(name string, names []string) string {
	begins := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !strings.HasPrefix(n, name) })
	if len(begins) > 1 {
		return "" // any of them may be meant
	}
	if near := nearest.Name(name, names); near != "" || len(begins) != 1 {
		return near
	}
	return begins[0]
}

// lackedKey reports a key of a ConfigMap or a Secret that a container needs and that does not exist. If
// another object makes it, its keys are corrected there.
func (l *look) lackedKey(r reference, x *read.Other) []hint {
	var names []string
	for _, part := range []string{"data", "binaryData", "stringData"} {
		values, _ := x.At(part).(map[string]any)
		names = append(names, sortedKeys(values)...)
	}
	if r.key == "" || r.optional || slices.Contains(names, r.key) {
		return nil
	}

	text := fmt.Sprintf("%s %s has no key %s; it has %s", x.Kind, x.Key(), r.key, list(names))
	if isLeftOut := len(names) == 0 && x.Kind == "Secret"; isLeftOut {
		text = fmt.Sprintf("the input does not show the keys of Secret %s", x.Key())
	}

	maker := l.e.makerOf(x)
	if maker != nil {
		made := sortedKeys(asMap(maker.At("spec.encryptedData"))) // of a SealedSecret
		for _, part := range elements(maker.At("spec.data")) {
			made = append(made, str(part, "secretKey")) // of an ExternalSecret
		}

		text += fmt.Sprintf("; %s %s makes it", maker.Kind, maker.Name)
		if slices.Contains(made, r.key) {
			status := inspect("look at its status why: once the key is there, the kubelet retries by itself",
				kubectl(x.Namespace, "describe", strings.ToLower(maker.Kind), maker.Name))
			return []hint{{text: text + ", with " + list(made) + ": it has not written the key yet", name: r.key,
				instead: true, remedies: []*Remedy{status}}}
		}
		if len(made) > 0 && len(names) == 0 {
			names = made
			text += ", with " + list(made)
		}
	}

	var remedies []*Remedy
	if near := nearName(r.key, names); near != "" {
		remedies = []*Remedy{when(near+" is meant", l.again(fmt.Sprintf("write %s instead of %s", near, r.key)))}
	}
	h := hint{text: text, name: r.key, remedies: remedies}
	if maker != nil {
		h.instead, h.settles = true, len(remedies) > 0
		h.remedies = append([]*Remedy{when("the key is missing", inspect(fmt.Sprintf("let %s %s write key %s, where "+
			"that is kept: what is changed in the %s by hand is overwritten. The kubelet retries by itself. This "+
			"shows what it writes", maker.Kind, maker.Name, r.key, x.Kind), kubectl(x.Namespace, "get",
			strings.ToLower(maker.Kind), maker.Name, "-o", "yaml")))}, h.remedies...)
	}
	return []hint{h}
}

// makerOf returns the object that makes another one and keeps it as it is, or nil.
func (e *Explainer) makerOf(x *read.Other) *read.Other {
	o := x.Controller()
	if o.Kind == "" {
		return nil
	}
	return e.other(o.Kind, x.Namespace, o.Name)
}

func asMap(value any) map[string]any {
	m, _ := value.(map[string]any)
	return m
}

// makers are objects that name an object that does not exist, as a Certificate names its Secret, and are
// in trouble themselves.
func (l *look) makers(r reference) (all []hint) {
	for _, kind := range sortedKeys(l.e.objects.Kept) {
		for _, x := range l.e.othersIn(kind, l.job.Namespace) {
			isNamed := r.kind == "Secret" && x.Name == r.name && contains(kind, "secret", "certificate")
			isUser := x.Kind == "Deployment" || x.Kind == "StatefulSet"
			isMaker := !isUser && (isNamed || mentions(x.At("spec"), r.name))
			if x.Namespace != "" && isMaker {
				hints := l.named(l.e.hintOf(x, "which names "+r.name), r.name)
				for i := range hints {
					hints[i].later = kind == "HelmRelease" || kind == "Application" || kind == "Kustomization"
				}
				all = append(all, hints...)
			}
		}
	}
	return all
}

// named returns hints to which a name points.
func (l *look) named(all []hint, name string) []hint {
	for i := range all {
		all[i].name = name
	}
	return all
}

// mentions reports whether a string of a decoded object is the name.
func mentions(value any, name string) bool {
	switch value := value.(type) {
	case string:
		return value == name
	case []any:
		return slices.ContainsFunc(value, func(v any) bool { return mentions(v, name) })
	case map[string]any:
		for _, v := range value {
			if mentions(v, name) {
				return true
			}
		}
	}
	return false
}

// volumeHints are about the storage class of a claim, and the attachment of its volume.
func (l *look) volumeHints(claim *read.Other) (all []hint) {
	volume, _ := claim.At("spec.volumeName").(string)
	class, _ := claim.At("spec.storageClassName").(string)
	classes := l.e.objects.Kept["StorageClass"]
	if isUnknown := volume == "" && class == ""; claim.Kind != "PersistentVolumeClaim" || isUnknown {
		return nil
	}

	hasVolume := slices.ContainsFunc(l.e.othersIn("PersistentVolume", ""), func(x *read.Other) bool {
		return str(x.Fields, "spec.storageClassName") == class // a class by name only
	})
	isBound := volume != "" || class == "" || hasVolume
	if !isBound && len(classes) > 0 && classes[class] == nil {
		all = append(all, hint{text: fmt.Sprintf("the input has no StorageClass %s, which the claim names; it has %s",
			class, list(sortedKeys(classes))), points: pointsTo[claim.Kind], remedies: []*Remedy{remedy("create the "+
			"class, or the claim anew with one that exists; this shows the claim", kubectl(claim.Namespace, "get",
			"pvc", claim.Name, "-o", "yaml"), "the claim is not bound, so that no data is lost")}})
	}

	if x := classes[class]; volume == "" && x != nil {
		if mode, _ := x.Fields["volumeBindingMode"].(string); mode == "WaitForFirstConsumer" {
			all = append(all, hint{text: fmt.Sprintf("StorageClass %s makes the volume once the pod has a node "+
				"(WaitForFirstConsumer)", class), points: []string{"unbound immediate"}})
		}
	}

	for _, x := range l.e.othersIn("VolumeAttachment", "") {
		if name, _ := x.At("spec.source.persistentVolumeName").(string); name == volume && volume != "" {
			node, _ := x.At("spec.nodeName").(string)
			text := fmt.Sprintf("its volume %s is attached to node %s", volume, node)
			if attached, is := x.At("status.attached").(bool); is && !attached {
				text = fmt.Sprintf("its volume %s is to be attached to node %s, and is not yet", volume, node)
			}
			if why := l.e.troubleWith(x); why != "" {
				text = fmt.Sprintf("VolumeAttachment %s of its volume to node %s %s", x.Name, node, why)
			}
			all = append(all, hint{text: text, points: []string{"attach"}})
		}
	}
	return all
}

// jobSetHints are about what else waits in the JobSet of the Job: Jobs that are created only when others
// have ended or are ready.
func (l *look) jobSetHints(x *read.Other) (all []hint) {
	mine := l.job.Labels["jobset.sigs.k8s.io/replicatedjob-name"]
	if x.Kind != "JobSet" || mine == "" || l.isFinished() {
		return nil
	}
	for _, j := range elements(x.At("spec.replicatedJobs")) {
		name, _ := read.At(j, "name").(string)
		for _, d := range elements(read.At(j, "dependsOn")) {
			on, _ := read.At(d, "name").(string)
			status, _ := read.At(d, "status").(string)
			if on == mine {
				all = append(all, hint{text: fmt.Sprintf("JobSet %s creates the Jobs of %s only when those of %s, "+
					"to which this one belongs, are %s (dependsOn)", x.Name, name, on, status), alone: true,
					remedies: []*Remedy{inspect("look how far the JobSet is", kubectl(x.Namespace, "get", "jobset",
						x.Name, "-o", "yaml"))}})
			}
		}
	}
	return all
}

// keeperOf returns the object of a tool that keeps another, or nil.
func (e *Explainer) keeperOf(kind string, k keeper) *read.Other {
	for _, key := range sortedKeys(e.objects.Kept[kind]) {
		if x := e.objects.Kept[kind][key]; k.of != "" && k.of == x.Name {
			return x
		}
	}
	return nil
}

// keptHints are about the tool that keeps an object: what it reports, and whether it sets changes back.
func (e *Explainer) keptHints(m *read.Meta) (all []hint) {
	k, kind := keeperOf(m), "HelmRelease"
	switch {
	case k.name == "Argo CD":
		kind = "Application"
	case strings.Contains(k.source, "Kustomization"):
		kind = "Kustomization"
	}

	for _, key := range sortedKeys(e.objects.Kept[kind]) {
		x := e.objects.Kept[kind][key]
		if x != e.keeperOf(kind, k) {
			continue
		}

		isReported := slices.ContainsFunc(e.objects.Reports, func(r read.Report) bool { // they name the Job
			return r.Kind == kind && r.Namespace == x.Namespace && r.Name == x.Name
		})
		if !isReported {
			all = append(all, e.hintOf(x, "which keeps it")...)
		}

		if heals, _ := x.At("spec.syncPolicy.automated.selfHeal").(bool); heals {
			text := fmt.Sprintf("Application %s has selfHeal: Argo CD sets back what is changed by hand, such as "+
				"with kubectl edit", x.Key())
			if prune, _ := x.At("spec.syncPolicy.automated.prune").(bool); prune {
				text += ", and deletes what its source does not have any more (prune)"
			}
			all = append(all, hint{text: text, alone: true, remedies: []*Remedy{inspect(
				"change it in "+k.source, "argocd app get "+quote(x.Name))}})
		}
	}
	return all
}
