import { describe, expect, test } from 'vitest'
import {
  allRevisions,
  v1AndV2,
  v2AndV3,
  v3Only,
} from '../../../../test/fixtures/engine/conformance.ts'
import type { ApiRevision } from '../../../../test/fixtures/engine/engine.ts'
import { sharedEngine } from '../../../../test/fixtures/engine/shared-engine.ts'

/**
 * The table of operations: each one is served at its path in exactly the revisions that have it.
 */

const callOf = sharedEngine()

type Row = [operation: string, routes: string, revisions: readonly ApiRevision[]]

const resource = (name: string): Row[] => [
  [`list ${name}`, `get /${name}`, allRevisions],
  [`create one of ${name}`, `post /${name}`, allRevisions],
  [`get one of ${name}`, `get /${name}/{id}`, allRevisions],
  [`update one of ${name}`, `put /${name}/{id}`, allRevisions],
  [`modify one of ${name}`, `patch /${name}/{id}`, allRevisions],
  [`delete one of ${name}`, `delete /${name}/{id}`, allRevisions],
]

const rows: Row[] = [
  ['activate license', 'post /activation', v2AndV3],
  ['get activation', 'get /activation', v2AndV3],
  ['get catalog', 'get /catalog', v3Only],
  ['get models', 'get /catalog/models', v3Only],
  ['get configuration', 'get /configuration', allRevisions],
  ['deploy configuration', 'post /configuration', allRevisions],
  ...resource('sources'),
  ...resource('sinks'),
  ...resource('pipelines'),
  ['pipeline statistics', 'get /pipelines/{id}/statistics', v2AndV3],
  ['connect sources', 'post /pipelines/{id}/connect-sources', allRevisions],
  ['disconnect sources', 'post /pipelines/{id}/disconnect-sources', allRevisions],
  ['connect sinks', 'post /pipelines/{id}/connect-sinks', allRevisions],
  ['disconnect sinks', 'post /pipelines/{id}/disconnect-sinks', allRevisions],
  ['pipeline elements and models', 'get /pipelines/elements', allRevisions],
  ['the additional listing', 'get /pipelines/elements/list', v1AndV2],
  ['channels and streams', 'get /exports', allRevisions],
  ['channel static metadata', 'get /exports/channels/{id}/static', allRevisions],
  ['channel properties', 'get /exports/channels/properties', allRevisions],
  ['system statistics', 'get /statistics', allRevisions],
  ['about', 'get /about', allRevisions],
  ['output', 'get /output', allRevisions],
  ['pictures', 'get /pictures/{sha256}', v3Only],
  ['models that run', 'get /models', v3Only],
  ['switch of a model', 'put /models/{name}', v3Only],
  ['run of a model in shadow', 'put /models/{name}/shadow', v3Only],
  ['plugins', 'get /plugins', v3Only],
  ['upload of a plugin', 'post /plugins', v3Only],
  ['switch of a plugin', 'put /plugins/{name}', v3Only],
  ['run of a plugin in shadow', 'put /plugins/{name}/shadow', v3Only],
  ['removal of a version of a plugin', 'delete /plugins/{name}/{version}', v3Only],
  ['trusted publishers', 'get /plugin-trust', v3Only],
  ['trust in a publisher', 'put /plugin-trust/publishers/{key}', v3Only],
  ['removal of a publisher', 'delete /plugin-trust/publishers/{key}', v3Only],
  ['exception from signatures', 'put /plugin-trust/exceptions/{name}', v3Only],
  ['removal of an exception', 'delete /plugin-trust/exceptions/{name}', v3Only],
]

interface Parameter {
  name: string
  in: string
}
interface Described {
  parameters?: Parameter[]
}

async function documentOf(
  revision: ApiRevision,
): Promise<Record<string, Record<string, Described>>> {
  return (await callOf(revision)('GET', '/openapi.json')).body.paths
}

describe.each(rows)('%s is %s', (_, route, revisions) => {
  const [method, path] = route.split(' ') as [string, string]
  test.each(allRevisions)('in %s, if the revision has it', async revision => {
    const operation = (await documentOf(revision))[path]?.[method]
    expect(operation !== undefined).toBe(revisions.includes(revision))
    const concrete = path.replace('{sha256}', '0'.repeat(64)).replaceAll(/{\w+}/g, '4711')
    const body = method === 'get' || method === 'delete' ? undefined : '{}'
    const answer = await callOf(revision)(method.toUpperCase(), concrete, body)
    const isUnserved = /^there is nothing at | has no /.test(answer.body.reason ?? '')
    expect([answer.body, !isUnserved]).toEqual([answer.body, revisions.includes(revision)])
  })
})

type Query = [route: string, revisions: readonly ApiRevision[], names: string[]]

const queries: Query[] = [
  ['post /activation', v2AndV3, ['force']],
  ['get /catalog', v3Only, ['filter', 'filter-models']],
  ['get /catalog/models', v3Only, ['filter']],
  ['delete /sources/{id}', allRevisions, ['force']],
  ['delete /sinks/{id}', allRevisions, ['force']],
  ['delete /pipelines/{id}', allRevisions, ['force']],
  ['get /pipelines/elements', v3Only, ['filter']],
  ['get /pipelines/elements', v1AndV2, []],
  ['get /pipelines/elements/list', v1AndV2, ['type']],
  ['get /exports', allRevisions, ['filter']],
  ['post /plugins', v3Only, ['new-publisher']],
  ['put /plugin-trust/publishers/{key}', v3Only, ['force']],
  ['get /exports/channels/{id}/static', allRevisions, ['format']],
  ['get /exports/channels/properties', allRevisions, ['ids', 'props', 'format']],
]

describe.each(queries)('the query of %s', (route, revisions, names) => {
  const [method, path] = route.split(' ') as [string, string]
  test.each(revisions)(`in %s has ${names.join(', ') || 'nothing'}`, async revision => {
    const { parameters = [] } = (await documentOf(revision))[path]![method]!
    expect(parameters.filter(({ in: place }) => place === 'query').map(({ name }) => name)).toEqual(
      names,
    )
  })
})
