import { describe, expect, it } from 'vitest'
import { listDevices, selectProvider } from './devices.ts'

describe('devices', () => {
  it('selects the fastest available device for auto', () => {
    expect(selectProvider('auto', ['cpu'])).toBe('cpu')
    expect(selectProvider('auto', ['cpu', 'cuda'])).toBe('cuda')
  })

  it('selects the requested device or lists the available ones', () => {
    expect(selectProvider('cpu', ['cpu', 'cuda'])).toBe('cpu')
    expect(selectProvider('gpu', ['cpu', 'cuda'])).toBe('cuda')
    expect(() => selectProvider('gpu', ['cpu'])).toThrow(
      'no gpu that models can run on; available: cpu',
    )
    expect(() => selectProvider('igpu', ['cpu', 'cuda'])).toThrow('available: gpu, cpu')
  })

  it('lists a device for every available provider', () => {
    expect(listDevices(['cpu', 'cuda']).map(({ type }) => type)).toEqual(['gpu', 'cpu'])
  })
})
