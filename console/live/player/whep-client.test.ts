import { describe, expect, it } from 'vitest'
import { iceServersOf } from './whep-client.ts'

describe('the ICE servers of a Link header', () => {
  it('are those with their credentials, whatever stands in them', () => {
    const link = [
      '<stun:stun.example:3478>; rel="ice-server"',
      '<turn:turn.example?transport=udp>; rel="ice-server"; username="an, \\"owner\\""; credential="a;b<c>\\\\"; credential-type="password"',
    ].join(', ')
    expect(iceServersOf(link)).toEqual([
      { urls: 'stun:stun.example:3478' },
      { urls: 'turn:turn.example?transport=udp', username: 'an, "owner"', credential: 'a;b<c>\\' },
    ])
  })

  it('are none where there is no such header, or links to something else', () => {
    expect(iceServersOf(null)).toEqual([])
    expect(iceServersOf('<https://example/>; rel="help"')).toEqual([])
  })
})
