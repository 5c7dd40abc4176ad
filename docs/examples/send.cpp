// send.cpp - sends two events with the code that Thrift generates for C++.
//
//     apt-get install thrift-compiler libthrift-dev libboost-dev
//     thrift --gen cpp flume.thrift
//     c++ -Igen-cpp -o send send.cpp gen-cpp/flume_types.cpp gen-cpp/ThriftSourceProtocol.cpp -lthrift
//     ./send 4141
#include <cstdlib>
#include <iostream>
#include <memory>
#include <thrift/protocol/TCompactProtocol.h>
#include <thrift/transport/TBufferTransports.h>
#include <thrift/transport/TSocket.h>

#include "ThriftSourceProtocol.h"

using apache::thrift::TException;
using apache::thrift::protocol::TCompactProtocol;
using apache::thrift::transport::TFramedTransport;
using apache::thrift::transport::TSocket;

static ThriftFlumeEvent event(const std::string &body)
{
    ThriftFlumeEvent event;

    event.headers["app"] = "demo";
    event.body = body;
    return event;
}

int main(int argc, char **argv)
{
    auto socket = std::make_shared<TSocket>("127.0.0.1", argc > 1 ? std::atoi(argv[1]) : 4141);
    auto transport = std::make_shared<TFramedTransport>(socket);
    ThriftSourceProtocolClient client(std::make_shared<TCompactProtocol>(transport));

    socket->setConnTimeout(20000); // milliseconds; without them a call may wait for ever
    socket->setSendTimeout(20000);
    socket->setRecvTimeout(20000);
    try {
        transport->open();
        Status::type answer = client.appendBatch({ event("hello"), event("from C++") });
        std::cout << "answer: " << answer << std::endl; // on another answer than OK, send again
        return answer == Status::OK ? EXIT_SUCCESS : EXIT_FAILURE;
    } catch (const TException &failure) {
        std::cerr << failure.what() << std::endl; // the events may have arrived: send again
        return EXIT_FAILURE;
    }
}
