// Prints the spans of an episode with OpenTelemetry's exporter stdouttrace. Run by record.py.
package main

import (
	"context"
	"encoding/json"
	"os"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/stdout/stdouttrace"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
)

type pair struct {
	Key  string
	Text *string
	Int  *int64
}

type event struct {
	Name       string
	Time       int64
	Attributes []pair
}

type span struct {
	Trace, Span, Parent, Name, Scope, Version, Message string
	Kind, Status                                       int
	Start, End                                         int64
	Attributes, Resource                               []pair
	Events                                             []event
}

func pairs(from []pair) []attribute.KeyValue {
	var made []attribute.KeyValue
	for _, one := range from {
		if one.Text != nil {
			made = append(made, attribute.String(one.Key, *one.Text))
		} else {
			made = append(made, attribute.Int64(one.Key, *one.Int))
		}
	}
	return made
}

func contextOf(traceText, spanText string) trace.SpanContext {
	traceID, _ := trace.TraceIDFromHex(traceText)
	spanID, _ := trace.SpanIDFromHex(spanText)
	return trace.NewSpanContext(trace.SpanContextConfig{TraceID: traceID, SpanID: spanID})
}

func main() {
	var spans []span
	if err := json.NewDecoder(os.Stdin).Decode(&spans); err != nil {
		panic(err)
	}
	var stubs tracetest.SpanStubs
	for _, one := range spans {
		stub := tracetest.SpanStub{
			Name: one.Name, SpanContext: contextOf(one.Trace, one.Span), SpanKind: trace.SpanKind(one.Kind),
			StartTime: time.Unix(0, one.Start).UTC(), EndTime: time.Unix(0, one.End).UTC(),
			Attributes: pairs(one.Attributes), Resource: resource.NewSchemaless(pairs(one.Resource)...),
			Status:                 sdktrace.Status{Code: []codes.Code{codes.Unset, codes.Ok, codes.Error}[one.Status], Description: one.Message},
			InstrumentationLibrary: instrumentation.Library{Name: one.Scope, Version: one.Version},
		}
		if one.Parent != "" {
			stub.Parent = contextOf(one.Trace, one.Parent)
		}
		for _, happened := range one.Events {
			stub.Events = append(stub.Events, sdktrace.Event{
				Name: happened.Name, Time: time.Unix(0, happened.Time).UTC(), Attributes: pairs(happened.Attributes),
			})
		}
		stubs = append(stubs, stub)
	}
	exporter, _ := stdouttrace.New(stdouttrace.WithPrettyPrint())
	if err := exporter.ExportSpans(context.Background(), stubs.Snapshots()); err != nil {
		panic(err)
	}
}
