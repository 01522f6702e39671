import { expect, it } from 'vitest'
import { providerOf, typesOf } from './devices.ts'

it('takes the best device that is present where any will do', () => {
  expect(providerOf('auto', ['cpu'])).toBe('cpu')
  expect(providerOf('auto', ['cpu', 'cuda'])).toBe('cuda')
})

it('takes the device asked for, or says what there is instead', () => {
  expect(providerOf('cpu', ['cpu', 'cuda'])).toBe('cpu')
  expect(providerOf('gpu', ['cpu', 'cuda'])).toBe('cuda')
  expect(() => providerOf('gpu', ['cpu'])).toThrow('no gpu that models can run on; there is: cpu')
  expect(() => providerOf('igpu', ['cpu', 'cuda'])).toThrow('there is: gpu, cpu')
})

it('lists a device for every provider that works', () => {
  expect(typesOf(['cpu', 'cuda']).map(({ type }) => type)).toEqual(['gpu', 'cpu'])
})
