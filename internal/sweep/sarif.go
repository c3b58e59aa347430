package sweep

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/words"
)

// The part of SARIF 2.1.0 that is written:
// https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool    sarifTool     `json:"tool"`
		Results []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID               string    `json:"id"`
		ShortDescription sarifText `json:"shortDescription"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID       string            `json:"ruleId"`
		Level        string            `json:"level"`
		Message      sarifText         `json:"message"`
		Locations    []sarifLocation   `json:"locations,omitempty"`
		Fingerprints map[string]string `json:"partialFingerprints"`
	}
	sarifLocation struct {
		Physical sarifPhysical  `json:"physicalLocation"`
		Logical  []sarifLogical `json:"logicalLocations"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI  string `json:"uri"`
		Base string `json:"uriBaseId,omitempty"`
	}
	sarifRegion struct {
		StartLine int `json:"startLine"`
	}
	sarifLogical struct {
		Name string `json:"fullyQualifiedName"`
		Kind string `json:"kind"`
	}
)

// sarifRules are the outcomes that are reported, with their levels.
var sarifRules = [...]struct{ outcome, level, text string }{
	{panicked, "error", "The program panics when a function fails."},
	{hung, "error", "The program hangs when a function fails."},
	{swallowed, "warning", "A function gets an error and returns none: the test passes."},
	{lost, "warning", "The error of a function is lost: the test passes."},
	{reached, "note", "The error of a function reaches the test, which passes."},
}

// writeSARIF writes the findings as other tools read them.
func (f *findings) writeSARIF(name string) error {
	log := f.sarif()
	text, err := json.MarshalIndent(log, "", "  ")
	if err == nil {
		err = os.WriteFile(name, append(text, '\n'), 0o666)
	}
	if err != nil {
		return fmt.Errorf("-sarif: %v", err)
	}
	return nil
}

func (f *findings) sarif() sarifLog {
	run := sarifRun{Results: []sarifResult{}}
	run.Tool.Driver = sarifDriver{Name: "ftrace-wrap sweep", InformationURI: "https://github.com/ftrace-wrap/ftrace-wrap"}
	levels := map[string]string{}
	for _, rule := range sarifRules {
		levels[rule.outcome] = rule.level
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{rule.outcome, sarifText{rule.text}})
	}
	for _, x := range f.sorted() {
		var failing []string
		for _, failed := range slices.SortedFunc(maps.Keys(f.places[x]), compareFailures) {
			failing = append(failing, failed.condition()+": "+some(f.places[x][failed]))
		}
		message := x.outcome
		if x.detail != "" {
			message += ": " + x.detail
		}
		message += ", " + strings.Join(failing, "; ")
		result := sarifResult{RuleID: x.outcome, Level: levels[x.outcome], Message: sarifText{message}, Fingerprints: map[string]string{"finding/v1": x.outcome + " " + x.function() + " " + x.detail}}
		if m := placeForm().FindStringSubmatch(x.place); m != nil {
			line, _ := strconv.Atoi(m[3])
			result.Locations = []sarifLocation{{sarifPhysical{sarifFile(m[2]), sarifRegion{line}}, []sarifLogical{{m[1], "function"}}}}
		}
		run.Results = append(run.Results, result)
	}
	return sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}}
}

// sarifFile names a file: below the working directory, relative to what is called SRCROOT, as code
// hosts do.
func sarifFile(name string) sarifArtifact {
	slashed := filepath.ToSlash(name)
	if filepath.IsAbs(name) {
		if slashed[0] != '/' {
			slashed = "/" + slashed
		}
		return sarifArtifact{URI: (&url.URL{Scheme: "file", Path: slashed}).String()}
	}
	return sarifArtifact{(&url.URL{Path: slashed}).EscapedPath(), "%SRCROOT%"}
}

var placeForm = words.Regexp(`^(.*) \((.*):(\d+)\)$`)
