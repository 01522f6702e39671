import type { Route } from '@eyrie/contract'
import fc from 'fast-check'
import { arbitraryOf, fieldsOf } from './arbitrary.ts'

/** A request to a route, well formed or not. */
export interface FuzzedRequest {
  route: Route
  /** What the path names: as `id`, a number stands for the n-th resource that is there. */
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

const deep = fc.integer({ min: 1, max: 5000 }).map(levels => '['.repeat(levels) + ']'.repeat(levels))

/** Requests to a route: most fit its schemas, others are anything. */
export function requestTo(route: Route): fc.Arbitrary<FuzzedRequest> {
  return fc
    .record({
      params: paramsOf(route),
      query: queryOf(route),
      headers: headersOf(route),
      body: bodyOf(route),
    })
    .map(({ body, ...rest }) => ({ route, ...rest, body: route.method === 'get' ? undefined : body }))
}

function paramsOf({ params }: Route): fc.Arbitrary<Record<string, number | string>> {
  const fields = Object.entries(params ? fieldsOf(params) : {}).map(([name, value]) => [
    name,
    name === 'id' ? anyId : fc.oneof({ weight: 4, arbitrary: value as fc.Arbitrary<string> }, anyId),
  ])
  return fc.record(Object.fromEntries(fields))
}

/** Queries of which most fit a route's schema; "" is one of them. */
export function queryOf(route: Pick<Route, 'query'>): fc.Arbitrary<string> {
  const known = Object.entries(route.query ? fieldsOf(route.query) : {}).map(([name, value]) =>
    fc
      .option(fc.oneof({ weight: 3, arbitrary: value }, fc.string({ maxLength: 10 })))
      .map(chosen =>
        chosen === null ? [] : [`${name}=${encodeURIComponent(String(chosen).toWellFormed())}`],
      ),
  )
  const stray = fc.option(fc.constantFrom('force=true', 'force=perhaps', 'a=%', '=&=', 'filter[]=1'), {
    freq: 8,
  })
  return fc.tuple(stray, ...known).map(([extra, ...parts]) => {
    const all = [...(extra ? [extra] : []), ...parts.flat()]
    return all.length > 0 ? `?${all.join('&')}` : ''
  })
}

function headersOf({ method, contentType }: Route): fc.Arbitrary<Record<string, string>> {
  const type = contentType ?? (method === 'patch' ? 'application/merge-patch+json' : 'application/json')
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
      Prefer: fc.constantFrom('return=minimal', 'return=representation', 'return=', 'respond-async'),
    },
    { requiredKeys: ['Content-Type'] },
  )
  return fc
    .tuple(plain, fc.option(conditions, { freq: 4 }))
    .map(([headers, extra]) => ({ ...headers, ...extra }))
}

function bodyOf({ body, contentType }: Route): fc.Arbitrary<FuzzedRequest['body']> {
  const anything = fc.oneof(
    fc.json(),
    fc.string(),
    deep,
    fc.constantFrom(undefined, '', 'null', '{"__proto__":{"id":1}}', '{"constructor":{}}'),
  )
  if (!body) return anything
  const fitting = arbitraryOf(body)
  const sent = contentType
    ? (fitting as fc.Arbitrary<Uint8Array>)
    : fitting.map(value => JSON.stringify(value))
  return fc.oneof({ weight: 6, arbitrary: sent as fc.Arbitrary<FuzzedRequest['body']> }, anything)
}
