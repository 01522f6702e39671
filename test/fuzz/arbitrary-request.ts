import type { Route } from '@eyrie/contract'
import fc from 'fast-check'
import { createArbitrary, createFieldArbitraries } from './schema-arbitrary.ts'

/** A request to a route, valid or not. */
export interface FuzzedRequest {
  route: Route
  /** Path parameters. A number as `id` means the n-th existing resource. */
  params: Record<string, number | string>
  query: string
  headers: Record<string, string>
  body: string | Uint8Array | undefined
}

const anyId: fc.Arbitrary<number | string> = fc.oneof(
  { weight: 8, arbitrary: fc.nat(3) },
  fc.constantFrom('-1', '2147483648', '1e3', '%', '%00', 'connect'),
  fc.string({ minLength: 3, maxLength: 10 }).map(encodeURIComponent),
)

const deeplyNested = fc
  .integer({ min: 1, max: 5000 })
  .map(levels => '['.repeat(levels) + ']'.repeat(levels))

/** Requests to a route. Most of them match its schemas. */
export function createRequestArbitrary(route: Route): fc.Arbitrary<FuzzedRequest> {
  return fc
    .record({
      params: createParams(route),
      query: createQueryArbitrary(route),
      headers: createHeaders(route),
      body: createBody(route),
    })
    .map(({ body, ...rest }) => ({
      route,
      ...rest,
      body: route.method === 'get' ? undefined : body,
    }))
}

function createParams({ params }: Route): fc.Arbitrary<Record<string, number | string>> {
  const fields = Object.entries(params ? createFieldArbitraries(params) : {}).map(
    ([name, value]) => [
      name,
      name === 'id'
        ? anyId
        : fc.oneof({ weight: 4, arbitrary: value as fc.Arbitrary<string> }, anyId),
    ],
  )
  return fc.record(Object.fromEntries(fields))
}

/** Query strings with their `?`, or "". Most of them match the route's schema. */
export function createQueryArbitrary(route: Pick<Route, 'query'>): fc.Arbitrary<string> {
  const declared = Object.entries(route.query ? createFieldArbitraries(route.query) : {}).map(
    ([name, arbitrary]) =>
      fc
        .option(fc.oneof({ weight: 3, arbitrary }, fc.string({ maxLength: 10 })))
        .map(value =>
          value === null ? [] : [`${name}=${encodeURIComponent(String(value).toWellFormed())}`],
        ),
  )
  const undeclared = fc.option(
    fc.constantFrom('force=true', 'force=perhaps', 'a=%', '=&=', 'filter[]=1'),
    {
      freq: 8,
    },
  )
  return fc.tuple(undeclared, ...declared).map(([extra, ...parts]) => {
    const all = [...(extra ? [extra] : []), ...parts.flat()]
    return all.length > 0 ? `?${all.join('&')}` : ''
  })
}

function createHeaders({ method, contentType }: Route): fc.Arbitrary<Record<string, string>> {
  const type =
    contentType ?? (method === 'patch' ? 'application/merge-patch+json' : 'application/json')
  const conditions = fc.record(
    {
      'If-Match': fc.constantFrom('*', '"other"', '', 'W/"x", *'),
      'If-None-Match': fc.constantFrom('*', '"other"'),
    },
    { requiredKeys: [] },
  )
  const plain = fc.record(
    {
      'Content-Type': fc.oneof(
        { weight: 20, arbitrary: fc.constant(type) },
        fc.constantFrom('text/plain', 'application/json; charset=utf-8', ';'),
      ),
      Prefer: fc.constantFrom(
        'return=minimal',
        'return=representation',
        'return=',
        'respond-async',
      ),
    },
    { requiredKeys: ['Content-Type'] },
  )
  return fc
    .tuple(plain, fc.option(conditions, { freq: 4 }))
    .map(([headers, extra]) => ({ ...headers, ...extra }))
}

function createBody({ body, contentType }: Route): fc.Arbitrary<FuzzedRequest['body']> {
  const anything = fc.oneof(
    fc.json(),
    fc.string(),
    deeplyNested,
    fc.constantFrom(undefined, '', 'null', '{"__proto__":{"id":1}}', '{"constructor":{}}'),
  )
  if (!body) return anything
  const values = createArbitrary(body)
  const valid = contentType
    ? (values as fc.Arbitrary<Uint8Array>)
    : values.map(value => JSON.stringify(value))
  return fc.oneof({ weight: 6, arbitrary: valid as fc.Arbitrary<FuzzedRequest['body']> }, anything)
}
