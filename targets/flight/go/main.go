// A Flight server on Apache Arrow Go, with the tables in memory: the methods of its own integration server that belong
// to putting and getting, bound to one address. Findings are about Arrow Go unless they are about the lines below.
//
//	arrow-go-flight ADDRESS
package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

type table struct {
	descriptor *flight.FlightDescriptor
	schema     *arrow.Schema
	batches    []arrow.RecordBatch
}

// server has the tables by their tickets. The methods that are not here are those of Arrow Go's base.
type server struct {
	flight.BaseFlightServer
	lock   sync.RWMutex
	tables map[string]table
}

func ticketOf(descriptor *flight.FlightDescriptor) (string, error) {
	if descriptor.GetType() != flight.DescriptorPATH || len(descriptor.GetPath()) == 0 {
		return "", status.Error(codes.InvalidArgument, "a flight is named by a path")
	}
	return strings.Join(descriptor.Path, "\x00"), nil
}

func (s *server) table(ticket string) (table, error) {
	s.lock.RLock()
	defer s.lock.RUnlock()
	found, ok := s.tables[ticket]
	if !ok {
		return found, status.Errorf(codes.NotFound, "there is no table %q", ticket)
	}
	return found, nil
}

func (s *server) info(ticket string) (*flight.FlightInfo, error) {
	found, err := s.table(ticket)
	if err != nil {
		return nil, err
	}
	info := &flight.FlightInfo{
		Schema:           flight.SerializeSchema(found.schema, memory.DefaultAllocator),
		FlightDescriptor: found.descriptor,
		Endpoint:         []*flight.FlightEndpoint{{Ticket: &flight.Ticket{Ticket: []byte(ticket)}}},
		TotalBytes:       -1,
	}
	for _, batch := range found.batches {
		info.TotalRecords += batch.NumRows()
	}
	return info, nil
}

func (s *server) GetFlightInfo(_ context.Context, descriptor *flight.FlightDescriptor) (*flight.FlightInfo, error) {
	ticket, err := ticketOf(descriptor)
	if err != nil {
		return nil, err
	}
	return s.info(ticket)
}

func (s *server) GetSchema(_ context.Context, descriptor *flight.FlightDescriptor) (*flight.SchemaResult, error) {
	ticket, err := ticketOf(descriptor)
	if err != nil {
		return nil, err
	}
	found, err := s.table(ticket)
	if err != nil {
		return nil, err
	}
	return &flight.SchemaResult{Schema: flight.SerializeSchema(found.schema, memory.DefaultAllocator)}, nil
}

func (s *server) ListFlights(criteria *flight.Criteria, stream flight.FlightService_ListFlightsServer) error {
	s.lock.RLock()
	tickets := make([]string, 0, len(s.tables))
	for ticket := range s.tables {
		if strings.HasPrefix(ticket, string(criteria.GetExpression())) {
			tickets = append(tickets, ticket)
		}
	}
	s.lock.RUnlock()
	for _, ticket := range tickets {
		info, err := s.info(ticket)
		if err != nil {
			return err
		}
		if err := stream.Send(info); err != nil {
			return err
		}
	}
	return nil
}

func (s *server) DoPut(stream flight.FlightService_DoPutServer) error {
	reader, err := flight.NewRecordReader(stream)
	if err != nil {
		return status.Error(codes.InvalidArgument, err.Error())
	}
	defer reader.Release()
	descriptor := reader.LatestFlightDescriptor()
	ticket, err := ticketOf(descriptor)
	if err != nil {
		return err
	}
	put := table{descriptor: descriptor, schema: reader.Schema()}
	for reader.Next() {
		batch := reader.RecordBatch()
		batch.Retain()
		put.batches = append(put.batches, batch)
		if metadata := reader.LatestAppMetadata(); len(metadata) > 0 {
			if err := stream.Send(&flight.PutResult{AppMetadata: metadata}); err != nil {
				return err
			}
		}
	}
	if err := reader.Err(); err != nil {
		return status.Error(codes.InvalidArgument, err.Error())
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	s.tables[ticket] = put
	return nil
}

func (s *server) DoGet(ticket *flight.Ticket, stream flight.FlightService_DoGetServer) error {
	found, err := s.table(string(ticket.GetTicket()))
	if err != nil {
		return err
	}
	writer := flight.NewRecordWriter(stream, ipc.WithSchema(found.schema))
	for _, batch := range found.batches {
		if err := writer.Write(batch); err != nil {
			return err
		}
	}
	return writer.Close()
}

// exchange gives the library the messages with data. Its reader takes no others, so that metadata alone is sent back here.
type exchange struct {
	flight.FlightService_DoExchangeServer
	first *flight.FlightData
}

func (e *exchange) Recv() (*flight.FlightData, error) {
	for {
		data, err := e.first, error(nil)
		if e.first = nil; data == nil {
			data, err = e.FlightService_DoExchangeServer.Recv()
		}
		if err != nil || len(data.GetDataHeader())+len(data.GetDataBody()) > 0 {
			return data, err
		}
		if len(data.GetAppMetadata()) > 0 {
			if err := e.Send(&flight.FlightData{AppMetadata: data.AppMetadata}); err != nil {
				return nil, err
			}
		}
	}
}

func (s *server) DoExchange(stream flight.FlightService_DoExchangeServer) error {
	first, err := stream.Recv()
	if err != nil {
		return status.Error(codes.InvalidArgument, "an exchange needs a descriptor")
	}
	if string(first.GetFlightDescriptor().GetCmd()) != "echo" {
		return status.Error(codes.NotFound, "there is no exchange but echo")
	}
	reader, err := flight.NewRecordReader(&exchange{stream, first})
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		return status.Error(codes.InvalidArgument, err.Error())
	}
	defer reader.Release()
	writer := flight.NewRecordWriter(stream, ipc.WithSchema(reader.Schema()))
	for reader.Next() {
		if err := writer.WriteWithAppMetadata(reader.RecordBatch(), reader.LatestAppMetadata()); err != nil {
			return err
		}
	}
	if err := reader.Err(); err != nil {
		return status.Error(codes.InvalidArgument, err.Error())
	}
	return writer.Close()
}

func (s *server) ListActions(_ *flight.Empty, stream flight.FlightService_ListActionsServer) error {
	return stream.Send(&flight.ActionType{Type: "drop_dataset", Description: "Remove the table whose ticket is the body."})
}

func (s *server) DoAction(action *flight.Action, stream flight.FlightService_DoActionServer) error {
	if action.GetType() != "drop_dataset" {
		return status.Errorf(codes.Unimplemented, "there is no action %q", action.GetType())
	}
	ticket := string(action.GetBody())
	if _, err := s.table(ticket); err != nil {
		return err
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	delete(s.tables, ticket)
	return nil
}

func main() {
	listener := flight.NewServerWithMiddleware(nil)
	if err := listener.Init(os.Args[1]); err != nil {
		panic(err)
	}
	listener.RegisterFlightService(&server{tables: map[string]table{}})
	listener.SetShutdownOnSignals(os.Interrupt)
	port := listener.Addr().(*net.TCPAddr).Port
	json.NewEncoder(os.Stdout).Encode(map[string]any{"event": "grpc.listen", "port": port})
	if err := listener.Serve(); err != nil {
		panic(err)
	}
}
