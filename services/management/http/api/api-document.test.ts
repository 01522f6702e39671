import { allManagementRoutes } from '@eyrie/contract/management/index'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Hono } from 'hono'
import { expect, test } from 'vitest'
import { documentedFields } from '../../../../test/fixtures/management/documented-fields.ts'
import { operationCases } from '../../../../test/fixtures/management/operation-cases.ts'
import { serveApiDocument } from './api-document.ts'

const app = new Hono()
serveApiDocument(app, '1.2.3')
const read = async () =>
  (await (await app.request('/api/v1/openapi.json')).json()) as {
    paths: Record<string, object>
    components: { schemas: object }
  }

interface Content {
  content: Record<string, { schema: { properties: object } }>
}

interface Parameter {
  name: string
  required: boolean
}

type Described = Record<
  string,
  { requestBody: Content; responses: Record<number, Content & { description: string }> }
>

test('the document is valid OpenAPI 3.1 in which every reference resolves', async () => {
  const document = await read()
  const validator = new Validator()
  expect(await validator.validate(structuredClone(document) as never)).toEqual({ valid: true })
  const names = Object.keys(document.components.schemas)
  for (const [, name] of JSON.stringify(document).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
    expect(names).toContain(name)
  }
})

test('the document lists every operation and no others', async () => {
  const { paths } = await read()
  const described = Object.entries(paths).flatMap(([path, operations]) =>
    Object.keys(operations).map(method => `${method} ${path}`),
  )
  const operations = allManagementRoutes.map(({ method, path }) => `${method} ${path}`)
  expect(described.sort()).toEqual(
    [...operations, 'get /alert/id', 'get /schedule/id', 'get /snooze/id'].sort(),
  )
})

test('the document describes GET, with its parameter, for routes that Location points to', async () => {
  const { paths } = await read()
  for (const { readBack } of allManagementRoutes) {
    if (!readBack) continue
    expect(paths[readBack.path]).toMatchObject({
      get: {
        parameters: expect.arrayContaining([
          expect.objectContaining({ name: readBack.by, in: 'query' }),
        ]),
      },
    })
  }
})

test('the document marks exactly the query parameters as required that the server requires', async () => {
  const { paths } = await read()
  const routes = new Map(operationCases.map(({ name, route }) => [name, route]))
  for (const { operation, required } of documentedFields) {
    const { method, path, query } = routes.get(operation)!
    if (!query) continue
    const { parameters } = (paths[path] as Record<string, { parameters: Parameter[] }>)[method]!
    const marked = parameters.filter(parameter => parameter.required).map(({ name }) => name)
    expect({ operation, required: marked.toSorted() }).toEqual({
      operation,
      required: required.toSorted(),
    })
  }
})

test('the document describes 202 for views that may be stale, and the media type of images', async () => {
  const { paths } = await read()
  const { responses } = (paths['/customer/view'] as Described).get!
  expect(responses[202]).toEqual({
    ...responses[200]!,
    description: expect.stringContaining('stale'),
  })
  expect((paths['/image/secure'] as Described).get!.responses[200]).toMatchObject({
    content: { 'image/jpeg': { schema: { type: 'string', format: 'binary' } } },
  })
})

test('the document marks ignored body fields as read-only', async () => {
  const { paths } = await read()
  for (const { path, ignoredFields = [] } of allManagementRoutes) {
    if (ignoredFields.length === 0) continue
    const { schema } = (paths[path] as Described).post!.requestBody.content['application/json']!
    for (const field of ignoredFields) {
      expect(schema.properties).toHaveProperty([field, 'readOnly'], true)
    }
    expect(schema).toMatchObject({ additionalProperties: false })
  }
})

test('the page shows the document without loading anything from other hosts', async () => {
  const page = await (await app.request('/docs')).text()
  expect(page).toContain('/api/v1/organization/create')
  expect(page).not.toMatch(/<script|src=|https?:\/\/(?!json-schema\.org)/)
})
