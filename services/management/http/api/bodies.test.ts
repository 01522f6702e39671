import { managementRoutes } from '@eyrie/contract/management/index'
import { describe, expect, it } from 'vitest'
import { organizationInput } from '../../../../test/fixtures/management/hierarchy.ts'
import { sharedManagement } from '../../../../test/fixtures/management/shared-management.ts'

const { create } = managementRoutes.organization
const MAX_BYTES = 4 * 1024 * 1024

const management = sharedManagement()

/** Sends the body unchanged to a create operation. */
async function post(body: string, type = 'application/json') {
  const headers = { 'content-type': type, authorization: `Bearer ${management.superadmin.token}` }
  return read(await management.request(create.path, { method: 'POST', headers, body }))
}

async function read(reply: Response) {
  const {
    message,
    response,
    response_code: responseCode,
  } = (await reply.json()) as Record<string, unknown>
  expect(responseCode).toBe(reply.status)
  return { status: reply.status, message, response, headers: reply.headers }
}

const named = (...fields: string[]) => ({
  status: 400,
  response: { fields: fields.map(field => expect.objectContaining({ field })) },
})
const text = (change: object) => JSON.stringify({ ...organizationInput('key'), ...change })

describe('request bodies', () => {
  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data',
    'application/jsonp',
    '',
  ])('of type %j are rejected with 415 and the accepted type', async type => {
    expect(await post(text({}), type)).toMatchObject({
      status: 415,
      message: expect.stringContaining('application/json'),
    })
  })

  it('are left unread if the client is not authenticated', async () => {
    let pulls = 0
    const endless = new ReadableStream(
      {
        pull(controller) {
          pulls++
          controller.enqueue(new TextEncoder().encode(' '.repeat(1 << 20)))
          if (pulls === 100) controller.close()
        },
      },
      { highWaterMark: 0 },
    )
    const headers = { 'content-type': 'application/json' }
    const init = { method: 'POST', headers, body: endless, duplex: 'half' } as RequestInit
    const { status } = await read(await management.request(create.path, init))
    expect([status, pulls]).toEqual([401, 0])
  })

  it('may specify a charset', async () => {
    expect(await post('{}', 'Application/JSON; charset=utf-8')).toMatchObject({ status: 400 })
  })

  it.each(['', 'null', '[]', '"text"', '1', 'true', '[{}]'])(
    'are rejected when they are not an object: %j',
    async body => {
      expect(await post(body)).toMatchObject({ status: 400 })
    },
  )

  it('that are empty are rejected with the missing fields, for any type', async () => {
    const headers = { authorization: `Bearer ${management.superadmin.token}` }
    const json = { ...headers, 'content-type': 'application/json' }
    for (const init of [
      { headers },
      { headers: json },
      { headers: json, body: '' },
      { headers: json, body: '\ufeff' },
    ]) {
      const { status, response } = await read(
        await management.request(create.path, { method: 'POST', ...init }),
      )
      const fields = Object.keys(organizationInput('key')).map(field => ({
        field,
        reason: 'is required',
      }))
      expect([status, response]).toEqual([400, { fields: expect.arrayContaining(fields) }])
    }
  })

  it('with several errors in one field are rejected, naming the field once', async () => {
    const { register } = managementRoutes.user
    const { response } = await management.send(register, {
      email: 'x',
      password: [],
      first_name: 1,
    })
    const { fields } = response as { fields: { field: string }[] }
    expect(fields.map(({ field }) => field).sort()).toEqual([
      'email',
      'first_name',
      'last_name',
      'password',
      'role_key',
    ])
    const { usecaseStats } = managementRoutes.event
    const counted = { details: false, frequency: '-1h', usecase_key: 'ppe', usecase_meta_key: '' }
    expect(await management.send(usecaseStats, counted)).toMatchObject(named('usecase_meta_key'))
  })

  it.each(['{', '{"a":1,}', "{'a':1}", 'NaN', '{"a":1}{"b":2}'])(
    'are rejected when they are not JSON: %j',
    async body => {
      expect(await post(body)).toMatchObject({
        status: 400,
        message: expect.stringContaining('not valid JSON'),
      })
    },
  )

  it('may be 4 MiB large, and are rejected with 413 beyond that', async () => {
    const whole = text({ organization_description: '' })
    const ofLength = (bytes: number) =>
      text({ organization_description: 'x'.repeat(bytes - Buffer.byteLength(whole)) })
    expect(Buffer.byteLength(ofLength(MAX_BYTES))).toBe(MAX_BYTES)
    expect(await post(ofLength(MAX_BYTES))).toMatchObject(named('organization_description'))
    expect(await post(ofLength(MAX_BYTES + 1))).toMatchObject({ status: 413 })
  })

  it.each([65, 100_000])('nested %d levels deep are rejected', async levels => {
    expect(await post(`{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`)).toMatchObject({
      status: 400,
      message: expect.stringContaining('deeper'),
    })
  })

  it('with unknown fields are rejected, naming each path', async () => {
    const body = text({ one: 1, two: 2, organization_address: { three: 3 } })
    const { status, response } = await post(body)
    expect(status).toBe(400)
    const { fields } = response as { fields: { field: string; reason: string }[] }
    expect(fields.map(({ field }) => field)).toEqual(
      expect.arrayContaining(['one', 'two', 'organization_address.three']),
    )
  })

  it.each(['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty'])(
    'with the field %s are rejected without polluting prototypes',
    async field => {
      const body = text({}).replace('{', `{"${field}":{"is_verified":true},`)
      expect(await post(body)).toMatchObject(named(field))
      expect('is_verified' in {}).toBe(false)
    },
  )

  it.each([
    ['NUL', '\0'],
    ['a lone high surrogate', '\ud800'],
    ['a lone low surrogate', 'a\udc00'],
  ])('with %s in a text are rejected, naming the field', async (_, character) => {
    expect(await post(text({ organization_name: character }))).toMatchObject(
      named('organization_name'),
    )
    const address = {
      ...organizationInput('key').organization_address,
      organization_city: character,
    }
    expect(await post(text({ organization_address: address }))).toMatchObject(
      named('organization_address.organization_city'),
    )
    expect(await post(text({ [`a${character}`]: 1 }))).toMatchObject(named('body'))
  })

  it('with a key too long for an index are rejected', async () => {
    const organizationKey = Array.from({ length: 256 }, (_, n) =>
      String.fromCodePoint(0x1f300 + n),
    ).join('')
    expect(await post(text({ organization_key: organizationKey }))).toMatchObject(
      named('organization_key'),
    )
    expect((await post(text({ organization_key: organizationKey.slice(0, 254) }))).status).toBe(200)
  })
})
