import { listRoutes, routesV1, routesV2, routesV3 } from '@eyrie/contract'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import { discardSink, sharedEngine } from '../../../test/fixtures/engine/shared-engine.ts'

const callOf = sharedEngine()

describe.each([
  ['v1', routesV1, ['get /output']],
  ['v2', routesV2, ['get /output']],
  [
    'v3',
    routesV3,
    ['get /output', 'get /pictures/{sha256}', 'get /exports/channels/{id}/snapshot.jpg'],
  ],
] as const)('OpenAPI document of %s', (revision, routes, additional) => {
  const read = async () => (await callOf(revision)('GET', '/openapi.json')).body

  test('is valid OpenAPI 3.1 and all references resolve', async () => {
    const document = await read()
    const validator = new Validator()
    expect(await validator.validate(structuredClone(document))).toEqual({ valid: true })
    expect(validator.version).toBe('3.1')
    const names = Object.keys(document.components.schemas)
    for (const [, name] of JSON.stringify(document).matchAll(
      /"#\/components\/schemas\/([^"]+)"/g,
    )) {
      expect(names).toContain(name)
    }
  })

  test('describes the minimal responses', async () => {
    const { paths, components } = await read()
    const ask = (method: string, path: string) =>
      callOf(revision)(method, path, discardSink, { Prefer: 'return=minimal' })
    const { status, body } = await ask('POST', '/sinks')
    const { schema } = paths['/sinks'].post.responses[status].content['application/json']
    const ajv = new Ajv2020({ strict: false, validateFormats: false })
    expect(ajv.validate({ ...schema, components }, body), JSON.stringify(body)).toBe(true)
    const { put, patch } = paths['/sinks/{id}']
    expect(put.responses).toHaveProperty([(await ask('PUT', `/sinks/${body.id}`)).status])
    expect(patch.responses).toHaveProperty([(await ask('PATCH', `/sinks/${body.id}`)).status])
  })

  test('contains exactly the operations of the revision', async () => {
    const { paths, servers } = await read()
    const described = Object.entries<object>(paths).flatMap(([path, operations]) =>
      Object.keys(operations).map(method => `${method} ${path}`),
    )
    const expected = listRoutes(routes).map(({ method, path }) => `${method} ${path}`)
    expect(described.sort()).toEqual([...expected, ...additional].sort())
    expect(servers).toEqual([{ url: `/api/${revision}` }])
  })
})
