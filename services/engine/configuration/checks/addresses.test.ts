import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  createCameraSource,
  createFileSource,
} from '../../../../test/fixtures/engine/configuration.ts'
import { useFreshConfiguration } from '../../../../test/fixtures/engine/fresh-configuration.ts'

const fresh = useFreshConfiguration()

describe('configuration', () => {
  describe('secrets of addresses', () => {
    const secret = {
      url: 'rtsp://me:inurl@camera/1',
      username: 'me',
      password: 'long',
      token: 'bearer',
    }

    test('are hidden in the API and passed to the runtime', async () => {
      await fresh.configuration.sources.create(createCameraSource('rtsp://me:p@ss@camera/1'))
      await fresh.configuration.sources.create({ ...createCameraSource(), address: secret })
      expect(fresh.configuration.sources.list().value.map(({ address }) => address)).toEqual([
        'rtsp://me:***@camera/1',
        { url: 'rtsp://me:***@camera/1', username: 'me', password: '***', token: '***' },
      ])
      expect(fresh.plans.at(-1)?.sources.map(({ address }) => address)).toEqual([
        { url: 'rtsp://me:p@ss@camera/1' },
        secret,
      ])
    })

    test('are retained if *** is sent back', async () => {
      const { value } = await fresh.configuration.sources.create({
        ...createCameraSource(),
        address: secret,
      })
      await fresh.configuration.sources.update(value.id, { ...value, rate: 5 })
      await fresh.configuration.sources.modify(value.id, { address: { username: 'you' } })
      expect(fresh.plans.at(-1)?.sources[0]).toMatchObject({
        rate: 5,
        address: { ...secret, username: 'you' },
      })
    })

    test('are hidden and retained in query parameters', async () => {
      const url = 'http://camera/video.cgi?user=me&loginpwd=xyzzy&access_token=plugh&fps=5'
      const { value } = await fresh.configuration.sources.create(createCameraSource(url))
      expect(value.address).toBe(
        'http://camera/video.cgi?user=me&loginpwd=***&access_token=***&fps=5',
      )
      const edited = value.address
        .toString()
        .replace('fps=5', 'fps=9')
        .replace('access_token=***', 'access_token=new')
      await fresh.configuration.sources.update(value.id, { ...value, address: edited })
      expect(fresh.plans.at(-1)?.sources[0]?.address.url).toBe(
        'http://camera/video.cgi?user=me&loginpwd=xyzzy&access_token=new&fps=9',
      )
    })

    test('are hidden and retained in the URL of the sub stream', async () => {
      const address = {
        url: 'rtsp://me:secret@camera/1?pwd=xyzzy',
        sub_url: 'rtsp://me:other@camera/2?pwd=plugh',
      }
      const { value } = await fresh.configuration.sources.create({
        ...createCameraSource(),
        address,
      })
      expect(value.address).toEqual({
        url: 'rtsp://me:***@camera/1?pwd=***',
        sub_url: 'rtsp://me:***@camera/2?pwd=***',
      })
      await fresh.configuration.sources.update(value.id, { ...value, rate: 5 })
      expect(fresh.plans.at(-1)?.sources[0]).toMatchObject({ rate: 5, address })
      await fresh.configuration.sources.modify(value.id, { address: { sub_url: null } })
      expect(fresh.plans.at(-1)?.sources[0]?.address).toEqual({ url: address.url })
      await expect(
        fresh.configuration.sources.modify(value.id, {
          address: { sub_url: 'rtsp://me:***@camera/3' },
        }),
      ).rejects.toMatchObject({
        code: 'syntax',
        message: expect.stringMatching(/^\/address\/sub_url: /),
      })
    })

    test('are retained by a patch of another field, even in parameters of the same name', async () => {
      const url = 'http://camera/video?token=xyzzy&token=plugh'
      const { value } = await fresh.configuration.sources.create(createCameraSource(url))
      await fresh.configuration.sources.modify(value.id, { rate: 5 })
      expect(fresh.plans.at(-1)?.sources[0]).toMatchObject({ rate: 5, address: { url } })
    })

    describe('at another server', () => {
      const other = /stored for another scheme, host or port: send the secret itself/

      test.each([
        'rtsp://me:***@attacker/1',
        'rtsp://me:***@camera:8554/1',
        'http://me:***@camera/1',
        'rtsp://me:***@camera.attacker/1',
        'rtsp://attacker\\@camera/1?token=***',
        'rtsp://camera@attacker:8554@camera/1?token=***',
      ])('are not retained in %s', async url => {
        const { sources } = fresh.configuration
        const { value } = await sources.create(
          createCameraSource('rtsp://me:xyzzy@camera/1?token=xyzzy'),
        )
        await expect(sources.update(value.id, createCameraSource(url))).rejects.toMatchObject({
          code: 'syntax',
        })
        await expect(sources.modify(value.id, { address: url })).rejects.toMatchObject({
          code: 'syntax',
        })
        expect(JSON.stringify(fresh.plans.at(-1))).not.toContain('attacker')
      })

      test('are not retained in the fields of an address, even if a patch does not mention them', async () => {
        const { sources } = fresh.configuration
        const address = {
          url: 'http://camera/1',
          username: 'me',
          password: 'xyzzy',
          token: 'plugh',
        }
        const { value } = await sources.create({ ...createCameraSource(), address })
        const elsewhere = { ...address, url: 'http://attacker/1', password: '***', token: '***' }
        await expect(sources.update(value.id, { ...value, address: elsewhere })).rejects.toThrow(
          other,
        )
        await expect(sources.modify(value.id, { address: { url: elsewhere.url } })).rejects.toThrow(
          other,
        )

        await sources.modify(value.id, {
          address: { url: elsewhere.url, password: 'new', token: null },
        })
        expect(fresh.plans.at(-1)?.sources[0]?.address).toEqual({
          url: elsewhere.url,
          username: 'me',
          password: 'new',
        })
      })

      test('are not retained for a sub stream', async () => {
        const { sources } = fresh.configuration
        const address = {
          url: 'rtsp://camera/1',
          sub_url: 'rtsp://camera/2',
          username: 'me',
          password: 'xyzzy',
        }
        const { value } = await sources.create({ ...createCameraSource(), address })
        const subUrl = 'rtsp://attacker/2'
        await expect(sources.modify(value.id, { address: { sub_url: subUrl } })).rejects.toThrow(
          other,
        )
        const elsewhere = { ...address, sub_url: subUrl, password: '***' }
        await expect(sources.update(value.id, { ...value, address: elsewhere })).rejects.toThrow(
          other,
        )
      })

      test('are not retained in the address of a sink', async () => {
        const { sinks } = fresh.configuration
        const { value } = await sinks.create({
          type: 'embedding',
          address: 'postgres://me:xyzzy@database/people',
          filter: [],
        })
        const address = 'postgres://me:***@attacker/people'
        await expect(sinks.modify(value.id, { address })).rejects.toThrow(other)
        const table = 'postgres://me:***@DATABASE:5432/people?table=faces'
        expect((await sinks.modify(value.id, { address: table })).value.address).toBe(table)
      })
    })

    test('change the entity tag', async () => {
      const { value, etag } = await fresh.configuration.sources.create({
        ...createCameraSource(),
        address: secret,
      })
      const changed = await fresh.configuration.sources.modify(value.id, {
        address: { password: 'other' },
      })
      expect(changed.value).toEqual(value)
      expect(changed.etag).not.toBe(etag)
    })

    test('are required if no secret is stored for ***', async () => {
      await expect(
        fresh.configuration.sources.create(createCameraSource('rtsp://me:***@camera/1')),
      ).rejects.toMatchObject({
        code: 'syntax',
        message: expect.stringMatching(/^\/address: /),
      })
    })
  })

  describe('addresses', () => {
    test('of files that do not exist are accepted under the media roots', async () => {
      const { value } = await fresh.configuration.sources.create(
        createFileSource(fresh.folder, 'later.mp4'),
      )
      expect(value.address).toBe(join(fresh.folder, 'media', 'later.mp4'))
    })

    test.each([
      ['video', 'rtsps://camera:322/stream?channel=1'],
      ['video', 'http://camera/video.mjpg?resolution=640x480'],
      ['video', { url: 'https://camera/live.mp4', token: 'bearer', tls_insecure: true }],
      ['video', '/dev/video0'],
      ['video', 'v4l2:///dev/video12'],
      ['video', '/dev/v4l/by-id/usb-Eyrie_Camera-video-index0'],
      ['hosted_video', 'http://10.0.0.7:8200/streams/3'],
      ['hosted_video', 'http://10.0.0.7:8200/streams/entrance'],
      ['hosted_video', { url: 'https://entrance.local/streams/0', token: 'theirs' }],
    ] as const)('of type %s are accepted: %o', async (type, address) => {
      await fresh.configuration.sources.create({ ...createCameraSource(), type, address })
      const [plan] = fresh.plans.at(-1)!.sources
      expect(plan).toMatchObject({
        type,
        address: typeof address === 'string' ? { url: address } : address,
      })
    })

    test.each([
      ['video', 'ftp://camera/'],
      ['video', 'http://'],
      ['video', 'rtsp'],
      ['video', '/dev/sda'],
      ['video', '/dev/video0/../sda'],
      ['video', 'v4l2://video0'],
      ['hosted_video', 'rtsp://host/streams/1'],
      ['hosted_video', 'http://host:8200/'],
      ['hosted_video', 'http://host:8200/streams/garden/ws'],
      ['file', '/etc/passwd'],
      ['file', 'rtsp://camera/'],
      ['file', 'media/relative.mp4'],
      ['file', 'test://ball'],
      ['file', 'file:///a%00b'],
      ['inf', `/${'x'.repeat(300)}`],
    ] as const)('of %s sources are rejected: %s', async (type, address) => {
      await expect(
        fresh.configuration.sources.create({ ...createCameraSource(), type, address }),
      ).rejects.toMatchObject({
        code: 'syntax',
        message: expect.stringMatching(/^\/address: /),
      })
    })

    test.each([
      ['video', 'ftp://host', 'rtsp://host:554/stream, https://host/video.mjpg or /dev/video0'],
      ['hosted_video', 'http://host', 'http://host:8200/streams/1'],
    ] as const)('of %s sources are rejected with an example', async (type, url, example) => {
      await expect(
        fresh.configuration.sources.create({ ...createCameraSource(), type, address: { url } }),
      ).rejects.toThrow(`/address/url: a source of type ${type} has an address such as ${example}`)
    })

    test.each([
      [
        'video',
        'rtsp://camera/main',
        'ftp://camera/sub',
        'the sub stream of a camera has an address such as rtsp',
      ],
      [
        'inf',
        'test://ball',
        'rtsp://camera/sub',
        'a source of type inf has no sub stream: remove sub_url',
      ],
    ] as const)(
      'of sub streams are rejected for %s sources at %s: %s',
      async (type, url, subUrl, reason) => {
        await expect(
          fresh.configuration.sources.create({
            ...createCameraSource(),
            type,
            address: { url, sub_url: subUrl },
          }),
        ).rejects.toThrow(`/address/sub_url: ${reason}`)
      },
    )

    test.each([
      ['sinks', 'file', 'file:///%'],
      ['sinks', 'video', 'file:///%c3.mp4'],
      ['sinks', 'zmq', 'ipc:///%'],
      ['sinks', 'zmq', 'tcp://host:5555?topic=%zz'],
      ['sinks', 'embedding', 'postgres://me:p%ss@host/people'],
      ['sources', 'zmq', 'ipc:///%'],
      ['sources', 'file', 'file:///50%.mp4'],
      ['sources', 'inf', 'file:///50%.mp4'],
    ] as const)(
      'in %s of type %s are rejected with a stray %%: %s',
      async (kind, type, address) => {
        const { configuration } = fresh
        const created =
          kind === 'sinks'
            ? configuration.sinks.create({ type, address, filter: [] })
            : configuration.sources.create({ ...createCameraSource(), type, address })
        const message = '/address: invalid percent-encoding: write %25 for a literal %'
        await expect(created).rejects.toMatchObject({ code: 'syntax', message })
      },
    )

    test('of test patterns are accepted for inf sources', async () => {
      expect(
        (
          await fresh.configuration.sources.create({
            ...createCameraSource(),
            type: 'inf',
            address: 'test://ball',
          })
        ).value.id,
      ).toBe(1)
    })

    test.each([
      ['video', 'file:///etc/door.mp4', 'lies outside'],
      ['video', 'file://FOLDER/output/door.mkv', 'such as file:///folder/name.mp4'],
      ['video', 'stream://door.mp4', 'such as file:///folder/name.mp4'],
      [
        'video',
        'file://FOLDER/output/door.mp4?keep=some',
        'keep must be a whole number of at least 0',
      ],
      [
        'video',
        'file://FOLDER/output/door.mp4?max_bytes=1',
        'max_bytes must be a whole number of at least 1048576',
      ],
      [
        'video',
        'file://FOLDER/output/door.mp4?size=1',
        'unknown parameter size: use max_bytes, max_seconds, keep',
      ],
      ['hosted_video', 'stream://door--3', 'such as stream://entrance'],
      ['hosted_video', `stream://${'d'.repeat(65)}`, 'such as stream://entrance'],
      ['hosted_video', 'stream://7', 'such as stream://entrance'],
      ['hosted_video', 'stream://door/left', 'such as stream://entrance'],
      ['hosted_video', 'http://host/streams/door', 'such as stream://entrance'],
      ['file', 'file://FOLDER/output/%2e%2e/escaped.jsonl', 'lies outside'],
      ['file', 'file://host/output/a.jsonl', 'names no local file'],
      [
        'file',
        'file:///output/%00.jsonl',
        'failed to access this path (ERR_INVALID_ARG_VALUE): use another one',
      ],
    ] as const)('of %s sinks are rejected: %s', async (type, text, reason) => {
      const address = text.replace('FOLDER', fresh.folder)
      const created = fresh.configuration.sinks.create({ type, address, filter: [] })
      await expect(created).rejects.toMatchObject({
        code: 'syntax',
        message: expect.stringMatching(/^\/address: /),
      })
      await expect(created).rejects.toThrow(reason)
    })

    test.each([
      ['video', 'file://FOLDER/output/door.mp4', 'file://FOLDER/output/door.mp4?keep=9'],
      ['hosted_video', 'stream://door', 'stream://door'],
    ] as const)('of %s sinks can be used only once', async (type, first, second) => {
      const sink = (text: string) => ({
        type,
        address: text.replace('FOLDER', fresh.folder),
        filter: [],
      })
      const { value } = await fresh.configuration.sinks.create(sink(first))
      await fresh.configuration.sinks.update(value.id, sink(second))
      await expect(fresh.configuration.sinks.create(sink(second))).rejects.toThrow(
        /^\/address: sink 1 already writes to /,
      )
    })

    test('of file sinks are accepted only under the output roots', async () => {
      const { value } = await fresh.configuration.sinks.create({
        type: 'file',
        address: `file://${fresh.folder}/output/a.jsonl`,
        filter: [],
      })
      expect(value.id).toBe(1)
      await expect(
        fresh.configuration.sinks.create({
          type: 'file',
          address: `file://${fresh.folder}/media/a.jsonl`,
          filter: [],
        }),
      ).rejects.toMatchObject({ code: 'syntax' })
    })
  })
})
