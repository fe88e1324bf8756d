#!/usr/bin/env python3
"""Print the types and samples of a pprof as JSON: read_pprof.py FILE."""
import gzip, json, sys
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
file = descriptor_pb2.FileDescriptorProto(name='profile.proto', package='p', syntax='proto3')
def message(name, *fields):
    m = file.message_type.add(name=name)
    for number, field, kind, many in fields:
        f = m.field.add(name=field, number=number, label=3 if many else 1)
        if kind[0].isupper(): f.type, f.type_name = 11, '.p.' + kind
        else: f.type = {'int64': 3, 'uint64': 4, 'bool': 8, 'string': 9}[kind]
message('ValueType', (1,'type','int64',0), (2,'unit','int64',0))
message('Label', (1,'key','int64',0), (2,'str','int64',0), (3,'num','int64',0), (4,'num_unit','int64',0))
message('Sample', (1,'location_id','uint64',1), (2,'value','int64',1), (3,'label','Label',1))
message('Mapping', (1,'id','uint64',0), (5,'filename','int64',0), (7,'has_functions','bool',0))
message('Line', (1,'function_id','uint64',0), (2,'line','int64',0))
message('Location', (1,'id','uint64',0), (2,'mapping_id','uint64',0), (3,'address','uint64',0), (4,'line','Line',1))
message('Function', (1,'id','uint64',0), (2,'name','int64',0), (3,'system_name','int64',0), (4,'filename','int64',0))
message('Profile', (1,'sample_type','ValueType',1), (2,'sample','Sample',1), (3,'mapping','Mapping',1),
    (4,'location','Location',1), (5,'function','Function',1), (6,'string_table','string',1), (9,'time_nanos','int64',0),
    (10,'duration_nanos','int64',0), (13,'comment','int64',1), (14,'default_sample_type','int64',0))
pool = descriptor_pool.DescriptorPool(); pool.Add(file)
p = message_factory.GetMessageClass(pool.FindMessageTypeByName('p.Profile'))()
p.ParseFromString(gzip.open(sys.argv[1]).read())
s = p.string_table; functions = {f.id: s[f.name] for f in p.function}
locations = {l.id: functions[l.line[0].function_id] for l in p.location}
print(json.dumps({'types': [s[t.type] for t in p.sample_type], 'samples': [
    {'stack': [locations[l] for l in x.location_id], 'values': list(x.value), 'labels': {s[l.key]: s[l.str] for l in x.label}}
    for x in p.sample]}))
