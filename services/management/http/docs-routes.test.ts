import { allManagementRoutes } from '@eyrie/contract/management/index'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Hono } from 'hono'
import { expect, test } from 'vitest'
import { serveDocs } from './docs-routes.ts'

const app = new Hono()
serveDocs(app, '1.2.3')
const read = async () =>
  (await (await app.request('/api/v1/openapi.json')).json()) as {
    paths: Record<string, object>
    components: { schemas: object }
  }

interface Content {
  content: Record<string, { schema: { properties: object } }>
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
  for (const [, name] of JSON.stringify(document).matchAll(/"#\/components\/schemas\/([^"]+)"/g))
    expect(names).toContain(name)
})

test('the document has every operation and no other', async () => {
  const { paths } = await read()
  const described = Object.entries(paths).flatMap(([path, operations]) =>
    Object.keys(operations).map(method => `${method} ${path}`),
  )
  const operations = allManagementRoutes.map(({ method, path }) => `${method} ${path}`)
  expect(described.sort()).toEqual([...operations, 'get /alert/id', 'get /schedule/id'].sort())
})

test('what Location names is described as a GET too, with its parameter', async () => {
  const { paths } = await read()
  for (const { readBack } of allManagementRoutes) {
    if (!readBack) continue
    expect(paths[readBack.path]).toMatchObject({
      get: {
        parameters: expect.arrayContaining([expect.objectContaining({ name: readBack.by, in: 'query' })]),
      },
    })
  }
})

test('a view that may be old is described with 202, and an image as what it is', async () => {
  const { paths } = await read()
  const { responses } = (paths['/customer/view'] as Described).get!
  expect(responses[202]).toEqual({ ...responses[200]!, description: expect.stringContaining('old') })
  expect((paths['/image/secure'] as Described).get!.responses[200]).toMatchObject({
    content: { 'image/jpeg': { schema: { type: 'string', format: 'binary' } } },
  })
})

test('what a body may repeat of an answer is described as read-only', async () => {
  const { paths } = await read()
  for (const { path, ignoredFields = [] } of allManagementRoutes) {
    if (ignoredFields.length === 0) continue
    const { schema } = (paths[path] as Described).post!.requestBody.content['application/json']!
    for (const field of ignoredFields) expect(schema.properties).toHaveProperty([field, 'readOnly'], true)
    expect(schema).toMatchObject({ additionalProperties: false })
  }
})

test('the page shows it without asking another host', async () => {
  const page = await (await app.request('/docs')).text()
  expect(page).toContain('/api/v1/organization/create')
  expect(page).not.toMatch(/<script|src=|https?:\/\/(?!json-schema\.org)/)
})
