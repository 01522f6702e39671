import { describe, expect, test } from 'vitest'
import { activated, all, latest, v1AndV2 } from '../../../../test/fixtures/conformance.ts'
import type { RevisionPath } from '../../../../test/fixtures/engine.ts'
import { sharedEngine } from '../../../../test/fixtures/shared-engine.ts'

/** The table of operations: each one is served at its path in exactly the revisions that have it. */

const callOf = sharedEngine()

type Row = [operation: string, routes: string, revisions: readonly RevisionPath[]]

const resource = (name: string): Row[] => [
  [`list ${name}`, `get /${name}`, all],
  [`create one of ${name}`, `post /${name}`, all],
  [`get one of ${name}`, `get /${name}/{id}`, all],
  [`update one of ${name}`, `put /${name}/{id}`, all],
  [`modify one of ${name}`, `patch /${name}/{id}`, all],
  [`delete one of ${name}`, `delete /${name}/{id}`, all],
]

const rows: Row[] = [
  ['activate license', 'post /activation', activated],
  ['get activation', 'get /activation', activated],
  ['get catalog', 'get /catalog', latest],
  ['get models', 'get /catalog/models', latest],
  ['get configuration', 'get /configuration', all],
  ['deploy configuration', 'post /configuration', all],
  ...resource('sources'),
  ...resource('sinks'),
  ...resource('pipelines'),
  ['pipeline statistics', 'get /pipelines/{id}/statistics', activated],
  ['connect sources', 'post /pipelines/{id}/connect-sources', all],
  ['disconnect sources', 'post /pipelines/{id}/disconnect-sources', all],
  ['connect sinks', 'post /pipelines/{id}/connect-sinks', all],
  ['disconnect sinks', 'post /pipelines/{id}/disconnect-sinks', all],
  ['pipeline elements and models', 'get /pipelines/elements', all],
  ['the additional listing', 'get /pipelines/elements/list', v1AndV2],
  ['channels and streams', 'get /exports', all],
  ['channel static metadata', 'get /exports/channels/{id}/static', all],
  ['channel properties', 'get /exports/channels/properties', all],
  ['system statistics', 'get /statistics', all],
  ['about', 'get /about', all],
  ['output', 'get /output', all],
  ['pictures', 'get /pictures/{sha256}', latest],
  ['plugins', 'get /plugins', latest],
  ['upload of a plugin', 'post /plugins', latest],
  ['switch of a plugin', 'put /plugins/{name}', latest],
  ['removal of a version of a plugin', 'delete /plugins/{name}/{version}', latest],
]

interface Parameter {
  name: string
  in: string
}
interface Described {
  parameters?: Parameter[]
}

async function documentOf(revision: RevisionPath): Promise<Record<string, Record<string, Described>>> {
  return (await callOf(revision)('GET', '/openapi.json')).body.paths
}

describe.each(rows)('%s is %s', (_, route, revisions) => {
  const [method, path] = route.split(' ') as [string, string]
  test.each(all)('in %s, if the revision has it', async revision => {
    const operation = (await documentOf(revision))[path]?.[method]
    expect(operation !== undefined).toBe(revisions.includes(revision))
    const concrete = path.replace('{sha256}', '0'.repeat(64)).replaceAll(/{\w+}/g, '4711')
    const body = method === 'get' || method === 'delete' ? undefined : '{}'
    const answer = await callOf(revision)(method.toUpperCase(), concrete, body)
    const isUnserved = /^there is nothing at | has no /.test(answer.body.reason ?? '')
    expect([answer.body, !isUnserved]).toEqual([answer.body, revisions.includes(revision)])
  })
})

type Query = [route: string, revisions: readonly RevisionPath[], names: string[]]

const queries: Query[] = [
  ['post /activation', activated, ['force']],
  ['get /catalog', latest, ['filter', 'filter-models']],
  ['get /catalog/models', latest, ['filter']],
  ['delete /sources/{id}', all, ['force']],
  ['delete /sinks/{id}', all, ['force']],
  ['delete /pipelines/{id}', all, ['force']],
  ['get /pipelines/elements', latest, ['filter']],
  ['get /pipelines/elements', v1AndV2, []],
  ['get /pipelines/elements/list', v1AndV2, ['type']],
  ['get /exports', all, ['filter']],
  ['get /exports/channels/{id}/static', all, ['format']],
  ['get /exports/channels/properties', all, ['ids', 'props', 'format']],
]

describe.each(queries)('the query of %s', (route, revisions, names) => {
  const [method, path] = route.split(' ') as [string, string]
  test.each(revisions)(`in %s has ${names.join(', ') || 'nothing'}`, async revision => {
    const { parameters = [] } = (await documentOf(revision))[path]![method]!
    expect(parameters.filter(({ in: place }) => place === 'query').map(({ name }) => name)).toEqual(names)
  })
})
