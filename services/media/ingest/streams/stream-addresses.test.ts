import { expect, it } from 'vitest'
import { toStreamAddresses } from './stream-addresses.ts'

const login = { username: 'viewer', password: 'secret' }

it('options and credentials of an address apply to the main and the sub stream', () => {
  const address = {
    url: 'rtsp://camera/1',
    sub_url: 'rtsp://camera/2',
    transport: 'tcp',
    ...login,
  } as const
  expect(toStreamAddresses(address)).toEqual({
    main: { url: 'rtsp://camera/1', transport: 'tcp', ...login },
    sub: { url: 'rtsp://camera/2', transport: 'tcp', ...login },
  })
})

it('credentials in the URL of the sub stream take precedence', () => {
  const address = { url: 'rtsp://camera/1', sub_url: 'rtsp://other:word@camera/2', ...login }
  expect(toStreamAddresses(address).sub).toEqual({ url: 'rtsp://other:word@camera/2' })
})

it('credentials are not sent to another server', () => {
  const address = { url: 'rtsp://camera/1', sub_url: 'rtsp://attacker/2', token: 'plugh', ...login }
  expect(toStreamAddresses(address).sub).toEqual({ url: 'rtsp://attacker/2' })
})
