package fsm

import (
	"io"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// JSONSink returns a sink that writes events to w as they happen; see JSONSinkAt.
func JSONSink(w io.Writer, least Level) func(Event) {
	write := JSONSinkAt(w, least)
	return func(e Event) { write(time.Now(), e) }
}

// JSONSinkAt returns a sink that writes events as JSON lines to w, in the log's schema:
//
//	{"ts":..., "level":..., "event":..., "request_id":..., "run_id":..., "data":{...}}
//
// request_id is omitted for events of the process itself, run_id outside runs, and data for
// events without fields. Events below the level least are dropped. Each line is one Write.
func JSONSinkAt(w io.Writer, least Level) func(time.Time, Event) {
	encoder := zapcore.NewJSONEncoder(zapcore.EncoderConfig{
		TimeKey:     "ts",
		LevelKey:    "level",
		MessageKey:  "event",
		LineEnding:  "\n",
		EncodeTime:  zapcore.TimeEncoderOfLayout(timeLayout),
		EncodeLevel: zapcore.LowercaseLevelEncoder,
	})
	core := zapcore.NewCore(encoder, zapcore.Lock(zapcore.AddSync(w)), zapLevel(least))
	return func(at time.Time, e Event) {
		entry := core.Check(zapcore.Entry{Level: zapLevel(e.Level), Time: at.UTC(), Message: e.Name}, nil)
		if entry == nil {
			return
		}
		fields := make([]zap.Field, 0, 3)
		if e.RequestID != "" {
			fields = append(fields, zap.String("request_id", e.RequestID))
		}
		if e.RunID != "" {
			fields = append(fields, zap.String("run_id", e.RunID))
		}
		if len(e.Data) > 0 {
			fields = append(fields, zap.Object("data", payload(e)))
		}
		entry.ErrorOutput = zapcore.AddSync(io.Discard)
		entry.Write(fields...)
	}
}

// payload encodes an event's data in the order of its schema. It avoids reflection for
// plain values, which are the great majority.
type payload Event

// MarshalLogObject implements zapcore.ObjectMarshaler.
func (p payload) MarshalLogObject(to zapcore.ObjectEncoder) error {
	for _, field := range compiledSchemas[p.Name].Names {
		value, ok := p.Data[field]
		if !ok {
			continue
		}
		switch v := value.(type) {
		case string:
			to.AddString(field, v)
		case int:
			to.AddInt(field, v)
		case int64:
			to.AddInt64(field, v)
		case bool:
			to.AddBool(field, v)
		default:
			if err := to.AddReflected(field, v); err != nil {
				return err
			}
		}
	}
	return nil
}

func zapLevel(l Level) zapcore.Level {
	switch l {
	case LevelDebug:
		return zapcore.DebugLevel
	case LevelWarn:
		return zapcore.WarnLevel
	case LevelError:
		return zapcore.ErrorLevel
	default:
		return zapcore.InfoLevel
	}
}
