import { join } from 'node:path'
import type { SinkInput, SourceInput } from '@eyrie/contract'
import { beforeEach, describe, expect, it } from 'vitest'
import {
  createCameraSource,
  createLineCrossingElements,
  createLineCrossingPipeline,
  openTestConfiguration,
  type TestConfiguration,
} from '../../../test/fixtures/engine/configuration.ts'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'

let folder: string
let opened: TestConfiguration

beforeEach(async () => {
  folder = createTemporaryFolder()
  opened = await openTestConfiguration(folder)
})

const sinkOf = (type: SinkInput['type'], address: string): SinkInput => ({
  type,
  address,
  filter: [],
})
const sourceOf = (type: SourceInput['type'], address: string): SourceInput => ({
  ...createCameraSource(address),
  type,
})
const sending = (name: string) => sinkOf('zmqinternal', `inproc://${name}`)
const reading = (name: string) => sourceOf('zmqinternal', `inproc://${name}`)

describe('address of a message source or sink', () => {
  it.each<[SinkInput['type'], string]>([
    ['zmq', 'tcp://*:5555?payload=raw'],
    ['zmq', 'tcp://broker:5555?bind=false&topic=gate/'],
    ['zmq', 'ipc://OUTPUT/results.sock'],
    ['zmqinternal', 'inproc://stage-1?payload=none'],
    ['embedding', 'file://OUTPUT/vectors.jsonl?keep=1'],
    ['embedding', 'postgres://me:xyzzy@host/vectors'],
  ])('is accepted for a %s sink: %s', async (type, address) => {
    const { value } = await opened.configuration.sinks.create(
      sinkOf(type, address.replace('OUTPUT', join(folder, 'output'))),
    )
    expect(value.id).toBe(1)
  })

  it.each<[SinkInput['type'], string, RegExp]>([
    ['zmq', 'tcp://host', /must be a URL such as tcp:/],
    ['zmq', 'tcp://host:5555?bind=maybe', /invalid query parameter bind/],
    ['zmq', 'ipc:///etc/results.sock', /lies outside the allowed folders/],
    ['zmqinternal', 'inproc://', /must be a URL such as inproc:/],
    ['zmqinternal', 'inproc://name?bind=true', /invalid query parameter/],
    ['embedding', 'file:///etc/vectors.jsonl', /lies outside the allowed folders/],
    ['embedding', 'postgres://me:xyzzy@host', /must have the form postgres:/],
  ])('is rejected for a %s sink: %s', async (type, address, reason) => {
    const refused = opened.configuration.sinks.create(sinkOf(type, address))
    await expect(refused).rejects.toMatchObject({
      code: 'syntax',
      message: expect.stringMatching(reason),
    })
    await expect(refused).rejects.toThrow(/^\/address/)
    await expect(refused).rejects.not.toThrow(/xyzzy/)
  })

  it.each<[SourceInput['type'], string, boolean]>([
    ['zmq', 'tcp://host:5555?topic=3', true],
    ['zmq', 'tcp://*:5555?bind=true', true],
    ['zmq', 'ipc://OUTPUT/results.sock', true],
    ['zmq', 'tcp://*:5555', false],
    ['zmq', 'tcp://host:5555?payload=raw', false],
    ['zmq', 'ipc:///etc/results.sock', false],
    ['zmqinternal', 'inproc://stage-1', true],
    ['zmqinternal', 'tcp://host:5555', false],
  ])('of a %s source %s is valid: %s', async (type, address, isValid) => {
    const created = opened.configuration.sources.create(
      sourceOf(type, address.replace('OUTPUT', join(folder, 'output'))),
    )
    if (isValid) await created
    else await expect(created).rejects.toMatchObject({ code: 'syntax' })
  })
})

describe('database password', () => {
  const shown = 'postgres://me:***@host/vectors'

  it('is never returned, and is retained if *** is sent back', async () => {
    const { value } = await opened.configuration.sinks.create(
      sinkOf('embedding', 'postgres://me:xyzzy@host/vectors'),
    )
    expect(value.address).toBe(shown)
    expect(JSON.stringify(opened.configuration.get().value)).not.toContain('xyzzy')
    expect(JSON.stringify(opened.configuration.sinks.list().value)).not.toContain('xyzzy')
    await opened.configuration.sinks.update(1, sinkOf('embedding', `${shown}?table=faces`))
    expect(opened.plans.at(-1)?.sinks[0]?.address).toBe(
      'postgres://me:xyzzy@host/vectors?table=faces',
    )
  })

  it('is retained by a deployment that sends *** back', async () => {
    const object = (address: string) => [
      {
        sources: [createCameraSource()],
        sinks: [sinkOf('embedding', address)],
        elements: createLineCrossingElements(),
        priority: 5,
      },
    ]
    await opened.configuration.deploy(object('postgres://me:xyzzy@host/vectors'))
    await opened.configuration.deploy(object(shown))
    expect(opened.plans.at(-1)?.sinks).toEqual([
      { id: 1, ...sinkOf('embedding', 'postgres://me:xyzzy@host/vectors') },
    ])
  })
})

describe('feedback loop of pipelines', () => {
  const refusal = (place: string) => ({
    code: 'syntax',
    message: expect.stringMatching(new RegExp(`^${place}.* would read its own results`)),
  })

  beforeEach(async () => {
    await opened.configuration.sources.create(createCameraSource())
    for (const name of ['a', 'b']) {
      await opened.configuration.sources.create(reading(name))
      await opened.configuration.sinks.create(sending(name))
    }
  })
  const [fromA, fromB, toA, toB] = [2, 3, 1, 2]

  it('is rejected at creation and at connection', async () => {
    const { pipelines } = opened.configuration
    const own = { ...createLineCrossingPipeline([fromA]), sinks: [toA] }
    await expect(pipelines.create(own)).rejects.toMatchObject(refusal('/sinks'))
    const { value } = await pipelines.create({
      ...createLineCrossingPipeline([fromA]),
      sinks: [toB],
    })
    const connected = opened.configuration.connect(value.id, { kind: 'sinks', ids: [toA] })
    await expect(connected).rejects.toMatchObject(refusal('/sinks'))
    expect(pipelines.get(value.id).value.sinks).toEqual([toB])
  })

  it('is rejected if it passes through other pipelines, in any order of creation', async () => {
    const { pipelines, sources, sinks } = opened.configuration
    await pipelines.create({ ...createLineCrossingPipeline([1]), sinks: [toA] })
    await pipelines.create({ ...createLineCrossingPipeline([fromA]), sinks: [toB] })
    const third = await pipelines.create(createLineCrossingPipeline([fromB]))
    await expect(
      opened.configuration.connect(third.value.id, { kind: 'sinks', ids: [toA] }),
    ).rejects.toMatchObject(refusal('/sinks'))
    await opened.configuration.sinks.create(sending('c'))
    await opened.configuration.connect(third.value.id, { kind: 'sinks', ids: [3] })
    await expect(sinks.update(3, sending('a'))).rejects.toMatchObject(refusal('/address'))
    await expect(sources.update(fromA, reading('c'))).rejects.toMatchObject(refusal('/address'))
  })

  it('is rejected in a deployment, with the place of the sinks', async () => {
    const object = (source: SourceInput, sink: SinkInput) => ({
      ...{ sources: [source], sinks: [sink], elements: createLineCrossingElements(), priority: 5 },
    })
    const deployment = [
      object(createCameraSource(), sending('a')),
      object(reading('b'), sending('b')),
    ]
    await expect(opened.configuration.deploy(deployment)).rejects.toMatchObject(refusal('/1/sinks'))
  })
})
