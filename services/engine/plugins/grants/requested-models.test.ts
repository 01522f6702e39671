import {
  type InferenceCapability,
  inferenceCapability,
  type OwnModel,
} from '@eyrie/contract/plugin-inference'
import { describe, expect, it } from 'vitest'
import { describeNewModels } from './requested-models.ts'

const own = (name: string, sha256 = '0'.repeat(64)): OwnModel => ({
  ...{ name, file: `${name}.onnx`, sha256, license: 'MIT', labels: [] },
  ...{ score_threshold: 0.3, iou_threshold: 0.3 },
  input: {
    ...{ name: 'x', layout: 'nchw', color: 'rgb', dtype: 'uint8' },
    ...{ width: 8, height: 8, fill: 0, fit: 'stretch' },
  },
})
const declared = (fields: Partial<InferenceCapability>) => inferenceCapability.parse(fields)

describe('models of a version', () => {
  it('are named if none were granted', () => {
    expect(describeNewModels(declared({ models: ['yolox-nano', 'faces'] }), [])).toBe(
      'runs models yolox-nano, faces of this machine, on pictures up to 1280 pixels wide',
    )
    expect(
      describeNewModels(declared({ models: ['faces'], own: [own('plates')], width: 640 }), []),
    ).toBe(
      'runs model faces of this machine, and runs its own model plates (MIT), whose results can contain parts of pictures, on pictures up to 640 pixels wide',
    )
  })

  it('are nothing new if the same names, or fewer, were granted', () => {
    const granted = [declared({ models: ['a', 'b'] }), declared({ own: [own('plates')] })]
    expect(describeNewModels(declared({ models: ['a'] }), granted)).toBeUndefined()
    expect(
      describeNewModels(declared({ own: [own('plates', 'f'.repeat(64))] }), granted),
    ).toBeUndefined()
    expect(describeNewModels(undefined, granted)).toBeUndefined()
  })

  it('are new if another name, an own model of a granted name, or larger pictures are asked for', () => {
    const granted = [declared({ models: ['a'], width: 640 })]
    expect(describeNewModels(declared({ models: ['a', 'b'], width: 640 }), granted)).toBe(
      'runs model b of this machine, on pictures up to 640 pixels wide',
    )
    expect(describeNewModels(declared({ own: [own('a')], width: 640 }), granted)).toMatch(
      /its own model a/,
    )
    expect(describeNewModels(declared({ models: ['a'], width: 1280 }), granted)).toBe(
      'runs its models on pictures up to 1280 pixels wide, granted: 640 pixels',
    )
  })
})
