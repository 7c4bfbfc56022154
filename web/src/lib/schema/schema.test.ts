import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { ENTITY_KINDS, type EntityKind } from '../route.ts';
import { check, refusal, type About, type Fault } from './check.ts';
import { hints, inserted, told } from './complete.ts';
import { typedAt } from './cursor.ts';
import { distance, nearest } from './nearest.ts';
import { takenBy, type Plugins } from './plugins.ts';
import { answersTo, type Names } from './references.ts';
import { likeness, pathText, SCHEMA_OF, shapesAt, type Schema, type Schemas } from './schema.ts';
import { fieldRange, objectOf, placeAt, reading } from './text.ts';

const { components } = JSON.parse(readFileSync('../src/api/openapi/golden.json', 'utf8')) as { components: { schemas: Schemas } };
const schemas = components.schemas;
const NAMES: Names = { services: ['haproxy', 'nginx', 'redis'], providers: ['local'], hardwaretypes: ['small', 'medium'], imagetypes: ['debian-12'], automatortypes: ['shell'] };
const SHELL = takenBy({ name: 'shell', parameters: { admin: { fields: { script: { label: 'Script', tip: 'Name of a script' }, mode: { label: 'Mode', options: ['fast', 'slow'] }, args: { label: 'Arguments' } } } } });
const LOCAL = takenBy({ name: 'local', parameters: { admin: { fields: { bridge: { label: 'Bridge' } } }, user: { fields: { zone: { label: 'Zone' } } } } });
const plugins: Plugins = { automatortypes: { shell: SHELL }, providertypes: { local: LOCAL } };
const about = (kind: EntityKind, names: Names = NAMES): About => ({ schemas, root: schemas[SCHEMA_OF[kind]] ?? {}, kind, names, plugins });

/** A fault in a line: its number, its text, and what is wrong. */
function lines(text: string, faults: Fault[]): string[] {
  return faults.map(({ severity, from, to, path, wrong }) => {
    const near = 'near' in wrong && wrong.near ? ` ${wrong.near}?` : '';
    return `${text.slice(0, from).split('\n').length} ${severity} ${path} ${text.slice(from, to)}: ${wrong.is}${near}`;
  });
}

test.each<[why: string, kind: EntityKind, text: string, faults: string[]]>([
  ['nothing', 'clustertemplates', 'name: a\ndefaults:\n  services: [nginx]\n', []],
  ['an empty text has no name', 'providers', '', ['1 error  : missing', '1 error  : missing']],
  ['nothing is the same as not there', 'clustertemplates', 'name: a\nlinks: null\nconstraints:\n', []],
  ['a required field that is empty', 'services', 'label: x\nname:\n', ['2 error  name: missing']],
  ['required within', 'services', 'name: a\nprovisioner:\n  actions:\n    start: { fields: {} }\n', ['4 error provisioner.actions.start start: missing']],
  ['of another type', 'clustertemplates', 'name: a\nconstraints:\n  size: { min: two }\n', ['3 error constraints.size.min two: type']],
  ['an object where a list is', 'clustertemplates', 'name: a\nlinks:\n  url: x\n', ['2 error links links: type']],
  ['a number as text is read', 'clustertemplates', 'name: a\nconstraints: { size: { min: "2" } }\n', []],
  ['a number where text is', 'clustertemplates', 'name: a\ndefaults: { imagetype: 5 }\n', ['2 warning defaults.imagetype 5: quotes']],
  ['too little', 'clustertemplates', 'name: a\nconstraints: { size: { min: -1 } }\n', ['2 error constraints.size.min -1: least']],
  ['none of the values', 'services', 'name: a\nonchange: relaod\n', ['2 error onchange relaod: choice reload?']],
  ['an action that is none', 'services', 'name: a\nprovisioner:\n  actions:\n    strat: { type: shell }\n', ['4 error provisioner.actions.strat strat: choice start?']],
  ['a field that is none', 'clustertemplates', 'name: a\ndefualts: {}\n', ['2 warning defualts defualts: unknown defaults?']],
  ['a field that the server refuses', 'clustertemplates', 'name: a\nadministration: { health: { heel: off } }\n', ['2 error administration.health.heel heel: unknown heal?']],
  ['any field of a configuration', 'clustertemplates', 'name: a\ndefaults: { config: { a: { b: 1 } } }\n', []],
  ['an entry twice', 'clustertemplates', 'name: a\ndefaults:\n  services:\n    - nginx\n    - nginx\n', ['5 warning defaults.services[1] nginx: twice']],
  ['a service that is not there', 'clustertemplates', 'name: a\ndefaults: { services: [ngnix] }\n', ['2 warning defaults.services[0] ngnix: nowhere nginx?']],
  ['a key that names nothing', 'imagetypes', 'name: a\nprovidermap:\n  locl: { image: x }\n', ['3 warning providermap.locl locl: nowhere local?']],
  ['a requirement in either form', 'services', 'name: a\ndependencies: { runtime: { requires: [redis, { name: nginx, scope: node }] } }\n', []],
  ['in the form that it is meant in', 'services', 'name: a\ndependencies: { runtime: { requires: [{ name: nginx, scope: nod }] } }\n', ['2 error dependencies.runtime.requires[0].scope nod: choice node?']],
  ['a field that the plugin does not have', 'services', 'name: a\nprovisioner:\n  actions:\n    start: { type: shell, fields: { scrpt: x } }\n', ['4 warning provisioner.actions.start.fields.scrpt scrpt: foreign script?']],
  ['a field that the provider does not have', 'providers', 'name: a\nprovidertype: local\nprovisioner: { brigde: x, zone: y }\n', ['3 warning provisioner.brigde brigde: foreign bridge?']],
  ['any field of a plugin that is not known', 'providers', 'name: a\nprovidertype: other\nprovisioner: { brigde: x }\n', []],
  ['JSON', 'clustertemplates', '{\n  "name": "a",\n  "links": [{ "url": 3 }]\n}\n', ['3 warning links[0].url 3: quotes']],
  ['what cannot be read, beside the rest', 'clustertemplates', 'name: a\nname: b\ndefaults: { imagetype: [] }\n', ['2 error  name: broken', '3 error defaults.imagetype imagetype: type']],
  ['a line without its colon, and nothing that comes of it', 'clustertemplates', 'name: a\ndns\nlabel: b\n', ['2 error  dns: broken']],
  ['what an alias stands for', 'clustertemplates', 'name: a\ndefaults: { services: &s [ngnix] }\ncompatibility: { services: *s }\n', ['2 warning defaults.services[0] ngnix: nowhere nginx?', '2 warning compatibility.services[0] ngnix: nowhere nginx?']],
])('%s', (_, kind, text, faults) => {
  expect(lines(text, check(reading(text), about(kind)))).toEqual(faults);
});

test('what is not known is not missed', () => {
  const text = 'name: a\ndefaults: { services: [ngnix] }\n';
  expect(check(reading(text), about('clustertemplates', {}))).toEqual([]);
});

test('nothing is wrong with the catalog that is shipped', () => {
  const files = ['base/base', 'web/services', 'web/template', 'etcd/services', 'etcd/template', 'postgres/services', 'postgres/template'];
  const all = files.flatMap((file) => parseAllDocuments(readFileSync(`../etc/catalog/${file}.yaml`, 'utf8')).map((doc) => doc.toJS() as Record<string, unknown>));
  const names: Names = { providertypes: ['local'], automatortypes: ['shell'] };
  for (const kind of ENTITY_KINDS) names[kind] = answersTo(all.filter((one) => `${String(one.kind)}s` === kind) as { name: string }[]);
  expect(names.services).toContain('nginx');
  for (const { kind, ...entity } of all) {
    const text = JSON.stringify(entity, null, 2);
    expect(lines(text, check(reading(text), about(`${String(kind)}s` as EntityKind, names)))).toEqual([]);
  }
});

test('schemas say nothing that is not understood', () => {
  const known = new Set(['$ref', 'type', 'description', 'properties', 'required', 'additionalProperties', 'propertyNames', 'items', 'enum', 'allOf', 'oneOf', 'anyOf', 'minimum', 'maximum', 'uniqueItems', 'default', 'format']);
  const seen = new Set<Schema>();
  const look = (schema: Schema | boolean | undefined): void => {
    if (typeof schema !== 'object' || seen.has(schema)) return;
    seen.add(schema);
    expect(Object.keys(schema).filter((key) => !known.has(key))).toEqual([]);
    if (schema.$ref) look(schemas[schema.$ref.split('/').at(-1) ?? '']);
    for (const one of [schema.items, schema.additionalProperties, schema.propertyNames, ...(schema.allOf ?? []), ...(schema.oneOf ?? []), ...Object.values(schema.properties ?? {})]) look(one);
  };
  for (const name of Object.values(SCHEMA_OF)) look(schemas[name]);
  expect(seen.size).toBeGreaterThan(100);
});

/** Text with the cursor at `|`. */
function at(marked: string): [text: string, offset: number] {
  const offset = marked.indexOf('|');
  return [marked.replace('|', ''), offset];
}

test.each<[why: string, kind: EntityKind, marked: string, found: string[]]>([
  ['fields that are not there yet', 'hardwaretypes', 'name: a\n|\nlabel: b\n', ['description', 'icon', 'version', 'providermap']],
  ['half a field', 'clustertemplates', 'name: a\nconstraints:\n  size:\n    m|\n', ['max', 'min']],
  ['before its colon', 'clustertemplates', 'name: a\nconstraints: { size: { m|: 1 } }\n', ['max', 'min']],
  ['an action', 'services', 'name: a\nprovisioner:\n  actions:\n    install: { type: shell }\n    |\n', ['configure', 'initialize', 'start', 'stop', 'remove', 'probe', 'errand', 'create', 'confirm', 'bootstrap', 'delete']],
  ['one of the values', 'services', 'name: a\nonchange: |\n', ['restart', 'reload', 'configure']],
  ['yes or no', 'services', 'name: a\nonce: t|\n', ['true', 'false']],
  ['a name', 'clustertemplates', 'name: a\ndefaults:\n  hardwaretype: |\n  services: []\n', ['small', 'medium']],
  ['a name in a list, once', 'clustertemplates', 'name: a\ndefaults:\n  services:\n    - nginx\n    - |\n', ['haproxy', 'redis']],
  ['a name in brackets', 'clustertemplates', 'name: a\ndefaults: { services: [nginx, r|] }\n', ['haproxy', 'redis']],
  ['a name that is a key', 'hardwaretypes', 'name: a\nprovidermap:\n  |\n', ['local']],
  ['a name or an object', 'services', 'name: a\ndependencies:\n  runtime:\n    requires:\n      - |\n', ['haproxy', 'nginx', 'redis', 'members', 'name', 'scope']],
  ['JSON, a field', 'clustertemplates', '{\n  "name": "a",\n  "constraints": { "size": { "m|" } }\n}\n', ['max', 'min']],
  ['JSON, without quotes', 'clustertemplates', '{ "constraints": { "size": { | } } }', ['max', 'min']],
  ['JSON, a name', 'clustertemplates', '{ "defaults": { "services": ["nginx", "|"] } }', ['haproxy', 'redis']],
  ['JSON, a value', 'services', '{ "onchange": | }', ['restart', 'reload', 'configure']],
  ['what a plugin takes', 'services', 'name: a\nerrands:\n  backup:\n    type: shell\n    fields:\n      |\n', ['script', 'mode', 'args']],
  ['a value that a plugin takes', 'services', 'name: a\nprovisioner: { actions: { start: { type: shell, fields: { mode: | } } } }\n', ['fast', 'slow']],
  ['what a provider takes', 'providers', 'name: a\nprovidertype: local\nprovisioner:\n  b|\n', ['zone', 'bridge']],
  ['in a comment', 'clustertemplates', 'name: a # n|\n', []],
  ['within a sentence', 'clustertemplates', 'name: a\ndescription: one t| three\n', []],
  ['where anything goes', 'clustertemplates', 'name: a\ndefaults:\n  config:\n    |\n', []],
  ['with a fault elsewhere', 'clustertemplates', 'name: a\nname: b\nconstraints: { size: { | } }\n', ['max', 'min']],
])('completes: %s', (_, kind, marked, found) => {
  const typed = typedAt(...at(marked));
  expect((typed ? hints(typed, about(kind)) : []).map(({ text }) => text)).toEqual(found);
});

test.each<[kind: EntityKind, marked: string, chosen: string, after: string]>([
  ['clustertemplates', 'name: a\ndef|\n', 'defaults', 'name: a\ndefaults:\n  |\n'],
  ['clustertemplates', 'defaults:\n  ser|\n', 'services', 'defaults:\n  services:\n    - |\n'],
  ['clustertemplates', 'defaults:\n  prov|\n', 'provider', 'defaults:\n  provider: |\n'],
  ['clustertemplates', 'defaults: { prov| }\n', 'provider', 'defaults: { provider: | }\n'],
  ['clustertemplates', 'constraints: { s| }\n', 'size', 'constraints: { size: {|} }\n'],
  ['clustertemplates', 'defaults: { prov|: x }\n', 'provider', 'defaults: { provider|: x }\n'],
  ['services', 'links:\n  - l|\n', 'label', 'links:\n  - label: |\n'],
  ['services', 'dependencies:\n  runtime:\n    requires:\n      - |\n', 'redis', 'dependencies:\n  runtime:\n    requires:\n      - redis|\n'],
  ['clustertemplates', '{ "def|" }', 'defaults', '{ "defaults": {|} }'],
  ['clustertemplates', '{ def| }', 'defaults', '{ "defaults": {|} }'],
  ['clustertemplates', '{ "defaults": { "provider": "l|" } }', 'local', '{ "defaults": { "provider": "local"| } }'],
  ['clustertemplates', '{ "defaults": { "prov|"\n "services": [] } }', 'provider', '{ "defaults": { "provider": "|",\n "services": [] } }'],
  ['clustertemplates', '{ "defaults": { "prov|": "x", "services": [] } }', 'provider', '{ "defaults": { "provider"|: "x", "services": [] } }'],
  ['clustertemplates', '{ "defaults": { "prov|" } }', 'provider', '{ "defaults": { "provider": "|" } }'],
])('writes what was chosen: %s %s', (kind, marked, chosen, after) => {
  const [text, offset] = at(marked);
  const typed = typedAt(text, offset);
  const hint = typed && hints(typed, about(kind)).find((one) => one.text === chosen);
  if (!typed || !hint) throw new Error('nothing to choose');
  const put = inserted(hint, text, typed.from, typed.to, text.startsWith('{'));
  expect(text.slice(0, put.from) + put.text.slice(0, put.cursor) + '|' + put.text.slice(put.cursor) + text.slice(put.to)).toBe(after);
});

test('what a place is of, and what it is for', () => {
  const [text, offset] = at('name: a\nconstraints:\n  size: { m|in: 2 }\n');
  const place = placeAt(reading(text).doc.contents, offset);
  expect(place && pathText(place.path)).toBe('constraints.size.min');
  const { doc } = reading(text);
  expect(told(about('clustertemplates'), place?.path ?? [], doc)).toMatchObject({ about: 'At least so many, from 1.', types: ['integer'], initial: 1 });
  expect(told(about('clustertemplates'), ['administration', 'health', 'heal'], doc)).toMatchObject({ values: ['auto', 'alarm', 'off'] });
  expect(told(about('clustertemplates'), ['nowhere'], doc)).toBeUndefined();
  const action = 'provisioner: { actions: { start: { type: shell, fields: { script: a } } } }';
  expect(told(about('services'), ['provisioner', 'actions', 'start', 'fields', 'script'], reading(action).doc)?.about).toBe('Script. Name of a script');
  expect(shapesAt(schemas, about('services').root, ['dependencies', 'runtime', 'requires', 0])).toHaveLength(2);
});

test.each([
  ['links[1].url', 'y'],
  ['constraints.services.a.b.quantities.min', '7'],
  ['constraints.services.a.b.quantities.most', 'quantities'],
  ['defaults.services', 'services'],
  ['nowhere', undefined],
])('a field that the server names is found: %s', (field, found) => {
  const text = 'links: [{ url: x }, { url: y }]\nconstraints:\n  services:\n    a.b: { quantities: { min: 7 } }\ndefaults:\n  services: [a]\n';
  const range = fieldRange(reading(text), field);
  expect(range && text.slice(range.from, range.to)).toBe(found);
});

test('a configuration is like one that is there, and may be another', () => {
  const like: About = { schemas: {}, root: likeness({ nginx: { port: 80 }, list: [1] }), names: {} };
  expect(check(reading('nginx: { port: x, other: 1 }\nlist: 3\nmore: {}\n'), like)).toEqual([]);
  expect(lines('- a', check(reading('- a'), like))).toEqual(['1 error  : type']);
  const typed = typedAt(...at('nginx:\n  p|\n'));
  expect(typed && hints(typed, like)).toMatchObject([{ text: 'port', about: '80' }]);
});

test('what the server refuses is shown at its field', () => {
  const text = 'name: a\nlinks: [{ url: 3 }]\n';
  const [fault] = refusal({ message: 'no', field: 'links[0].url' }, reading(text));
  expect(fault && text.slice(fault.from, fault.to)).toBe('3');
  expect(refusal({ message: 'no', field: 'elsewhere' }, reading(text))).toMatchObject([{ from: 0, to: 0, wrong: { text: 'no' } }]);
});

test('text is read, or it is said why not', () => {
  expect(objectOf(reading('a: 1'))).toEqual({ a: 1 });
  expect(objectOf(reading('{"a": [1]}'))).toEqual({ a: [1] });
  for (const text of ['', 'a', '- a', 'a: [', 'a: *b', 'a: 1\n---\nb: 2']) expect(objectOf(reading(text)), text).toBeUndefined();
});

test('the name that was meant', () => {
  expect(distance('abc', 'acb')).toBe(1);
  expect(nearest('hardware_type', ['hardwaretype', 'imagetype'])).toBe('hardwaretype');
  expect(nearest('defualts', ['description', 'defaults'])).toBe('defaults');
  expect(nearest('xyz', ['name', 'label'])).toBeUndefined();
});
