import { describe, expect, it } from 'vitest'
import { parseMqttAddress } from './mqtt-address.ts'

const parse = (actionUrl: string, more: object = {}) =>
  parseMqttAddress({ action_url: actionUrl, ...more })

describe('the address of an MQTT topic', () => {
  it('has the default ports, and TLS if the scheme says so', () => {
    expect(parse('mqtt://broker.example/site/door')).toEqual({
      host: 'broker.example',
      port: 1883,
      isSecure: false,
      topic: 'site/door',
      username: undefined,
      password: undefined,
    })
    expect(parse('mqtts://[::1]/a')).toMatchObject({ host: '::1', port: 8883, isSecure: true })
    expect(parse('mqtts://broker.example:9000/a')).toMatchObject({ port: 9000 })
  })

  it('has user and password of the action, or else of the address', () => {
    expect(parse('mqtt://ada:p%40ss@h/a')).toMatchObject({ username: 'ada', password: 'p@ss' })
    const fields = { action_access_id: 'box', action_access_token: 'right' }
    expect(parse('mqtt://ada:pw@h/a', fields)).toMatchObject({ username: 'box', password: 'right' })
  })

  it('keeps a value that replaced a placeholder in one level of the topic', () => {
    const hostile = encodeURIComponent('../#/+ Tür\0')
    expect(parse(`mqtt://h/site/${hostile}/count`).topic).toBe('site/..____ Tür_/count')
  })

  it.each([
    ['http://h/a', 'use mqtt://host/topic'],
    ['mqtt://', 'use mqtt://host/topic'],
    ['', 'use mqtt://host/topic'],
    ['mqtt://h', 'has no topic'],
    ['mqtt://h/', 'has no topic'],
    ['mqtt://h/a/#', 'must not contain'],
    ['mqtt://h/+/a', 'must not contain'],
    ['mqtt://h/a?b', 'must not contain'],
    ['mqtt://h/%zz', 'the topic in action_url has a % that is not followed by two hexadecimal'],
    ['mqtt://%zz@h/a', 'the user name in action_url has a %'],
    ['mqtt://ada:%zz@h/a', 'the password in action_url has a %'],
    [`mqtt://h/${'a'.repeat(70_000)}`, 'too long'],
  ])('is refused for %.20s, with what to change', (url, reason) => {
    expect(() => parse(url)).toThrow(reason)
  })
})
