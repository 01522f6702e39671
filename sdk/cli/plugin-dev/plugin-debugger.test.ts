import { expect, it } from 'vitest'
import { addInspectPort, parseInspectPort } from './plugin-debugger.ts'

it('--inspect has the port of Node by default', () => {
  expect(addInspectPort(['crowd/', '--inspect', '--yes'])).toEqual([
    'crowd/',
    '--inspect=9229',
    '--yes',
  ])
  expect(addInspectPort(['--inspect=9230'])).toEqual(['--inspect=9230'])
})

it('--inspect is refused for elements in Python, with the remedy', () => {
  expect(parseInspectPort('9230', { entry: 'element.ts' })).toBe(9230)
  expect(parseInspectPort(undefined, { entry: 'element.py' })).toBeUndefined()
  expect(() => parseInspectPort('9229', { entry: 'element.py' })).toThrow(/python3 -m pdb/)
})
