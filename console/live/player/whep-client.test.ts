import { describe, expect, it } from 'vitest'
import { parseIceServers } from './whep-client.ts'

describe('ICE servers of a Link header', () => {
  it('are parsed with credentials that contain quotes and separators', () => {
    const link = [
      '<stun:stun.example:3478>; rel="ice-server"',
      '<turn:turn.example?transport=udp>; rel="ice-server"; username="an, \\"owner\\""; credential="a;b<c>\\\\"; credential-type="password"',
    ].join(', ')
    expect(parseIceServers(link)).toEqual([
      { urls: 'stun:stun.example:3478' },
      { urls: 'turn:turn.example?transport=udp', username: 'an, "owner"', credential: 'a;b<c>\\' },
    ])
  })

  it('are empty without the header and for links with another relation', () => {
    expect(parseIceServers(null)).toEqual([])
    expect(parseIceServers('<https://example/>; rel="help"')).toEqual([])
  })
})
