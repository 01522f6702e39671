import { deflateRawSync } from 'node:zlib'
import { managementRoutes } from '@eyrie/contract/management/index'
import { describe, expect, it } from 'vitest'
import {
  sharedManagement,
  sharedRecords,
} from '../../../../../test/fixtures/management/shared-management.ts'
import { shared } from '../../../../../test/fixtures/setup/shared.ts'
import { setting } from '../../../db/schema/index.ts'

const { getSms, getSmtp, updateSms, updateSmtp } = managementRoutes.config
const { list, upload } = managementRoutes.acl

const management = sharedManagement()
const records = sharedRecords(management)
const admin = shared(() => management.signIn('admin', { organization: records.organization_id }))

describe('delivery settings', () => {
  it('have defaults before they are set', async () => {
    expect((await management.call(getSmtp, { is_secret: 'true' })).response).toMatchObject({
      smtp_host: '',
      smtp_port: 587,
      smtp_auth: false,
      smtp_password: '',
    })
  })

  it('seal secrets, reveal them to superadmins only, and keep hidden ones that are sent back', async () => {
    const mail = {
      smtp_host: 'mail.eyrie.test',
      smtp_username: 'eyrie',
      smtp_password: 'very secret',
    }
    expect((await management.call(updateSmtp, mail)).response).toBeNull()
    const hidden = (await management.call(getSmtp, { is_secret: 'false' })).response
    expect(hidden.smtp_password).toBe('***')
    expect(
      (await management.call(getSmtp, { is_secret: 'true' }, admin)).response.smtp_password,
    ).toBe('***')
    await management.call(updateSmtp, { ...hidden, smtp_port: 25 })
    expect((await management.call(getSmtp, { is_secret: 'true' })).response).toMatchObject({
      ...mail,
      smtp_port: 25,
    })
    const rows = await management.database.system('test', tx => tx.select().from(setting))
    expect(JSON.stringify(rows)).not.toContain('very secret')
    const entries = (await management.call(managementRoutes.audit.list, { record: 'setting' }))
      .response
    expect(entries.length).toBeGreaterThan(0)
    expect(JSON.stringify(entries)).not.toMatch(/very secret|sealed1/)
  })

  it('seal and reveal the secrets for SMS too', async () => {
    const wanted = {
      sms_provider: 'twilio',
      sms_auth_key: 'AC1',
      sms_auth_token: 'token',
      sms_from: '+1',
      sms_to: '+2',
    }
    await management.call(updateSms, wanted)
    expect((await management.call(getSms, { is_secret: 'true' })).response).toEqual(wanted)
    const shown = (await management.call(getSms, { is_secret: 'false' })).response
    expect(shown).toEqual({ ...wanted, sms_auth_key: '***', sms_auth_token: '***' })
  })

  it('reject line breaks, which would inject message headers', async () => {
    const { status, message } = await management.send(updateSmtp, {
      smtp_from: 'a@b.test\r\nBcc: all',
    })
    expect([status, message]).toEqual([400, 'smtp_from: must not contain a line break'])
  })

  it('require is_secret', async () => {
    const { status, message } = await management.send(getSmtp, {})
    expect([status, message]).toEqual([400, 'is_secret: is required'])
  })
})

describe('user interface modules', () => {
  const rows = [
    'type,key,name,role,path,module_key',
    'mod,live,Live,admin|viewer,/live,',
    'mod,users,Users,admin,/users,',
    'comp,1,Channel list,admin|viewer,,live',
    'comp,2,Delete,admin,,live',
  ]

  async function send(content: string | Uint8Array<ArrayBuffer>, as = management.superadmin) {
    const body = new FormData()
    body.set('modulefile', new File([content], 'test.csv'))
    const headers = { authorization: `Bearer ${as.token}` }
    const reply = await management.request(upload.path, { method: 'POST', headers, body })
    return {
      status: reply.status,
      ...((await reply.json()) as { message: string; response: unknown }),
    }
  }

  it('are uploaded as a file and listed for all roles or one', async () => {
    expect(await send(rows.join('\n'))).toMatchObject({ status: 200, response: null })
    const live = { module_key: 'live', module_name: 'Live', module_path: '/live' }
    const shown = { component_key: 1, component_name: 'Channel list' }
    expect((await management.call(list, { role_key: 'viewer' })).response).toEqual([
      { ...live, components: [shown] },
    ])
    const all = (await management.call(list, {})).response
    expect(all.map(({ module_key, components }) => [module_key, components.length])).toEqual([
      ['live', 2],
      ['users', 0],
    ])
    expect((await management.send(list, { role_key: 'nobody' })).status).toBe(404)
  })

  it('come from a single file after concurrent uploads', async () => {
    const files = [rows, rows, rows].map(each => send(each.join('\n')))
    expect((await Promise.all(files)).map(({ status }) => status)).toEqual([200, 200, 200])
    expect((await management.call(list, {})).response).toHaveLength(2)
  })

  it('remain unchanged when a file has errors, naming the row of each', async () => {
    await send(rows.join('\n'))
    const wrong = [
      'mod,users,,boss,/users,',
      'comp,x,Button,admin,/path,nowhere',
      'thing,1,Thing,admin,,live',
    ]
    const { status, response } = await send([...rows.slice(0, 2), ...wrong].join('\n'))
    expect(status).toBe(400)
    const { fields } = response as { fields: { field: string }[] }
    expect(fields.map(({ field }) => field)).toEqual([
      ...['modulefile.3.name', 'modulefile.3.role'],
      ...['modulefile.4.key', 'modulefile.4.path', 'modulefile.4.module_key', 'modulefile.5.type'],
    ])
    expect((await management.call(list, {})).response).toHaveLength(2)
  })

  it('are read from .xlsx, detected by content, with the stored values of formulas', async () => {
    const { status } = await send(
      new Uint8Array(xlsx([rows[0]!.split(','), ['mod', 'live', '=1+1', 'viewer', '/live', '']])),
    )
    expect(status).toBe(200)
    expect((await management.call(list, {})).response).toMatchObject([{ module_name: '2' }])
  })

  it.each([
    ['a zip bomb', () => zip([['xl/worksheets/sheet1.xml', Buffer.alloc(64 << 20)]])],
    ['a truncated zip', () => xlsx([['mod']]).subarray(0, 200)],
    ['a zip of something else', () => zip([['readme.xml', Buffer.from('<a/>')]])],
    ['bytes that are not UTF-8', () => new Uint8Array([0xff, 0xfe, 0x00, 0xc3])],
  ])('are not read from %s', async (_, content) => {
    const { status, message, response } = await send(new Uint8Array(content()))
    expect([status, response]).toMatchObject([400, { fields: [{ field: 'modulefile' }] }])
    expect(message).toMatch(/^modulefile: /)
  })

  it('may have other column names in the header and come as a text field', async () => {
    const head = 'Type,Key,Name,Roles,module_path,Module'
    const body = new FormData()
    body.set('modulefile', [head, rows[1], rows[3]].join('\n'))
    const headers = { authorization: `Bearer ${management.superadmin.token}` }
    const reply = await management.request(upload.path, { method: 'POST', headers, body })
    expect(reply.status).toBe(200)
    const listed = (await management.call(list, {})).response
    expect(listed.map(({ module_key, components }) => [module_key, components.length])).toEqual([
      ['live', 1],
    ])
  })

  it('are rejected without the field modulefile, naming it', async () => {
    const headers = { authorization: `Bearer ${management.superadmin.token}` }
    const other = new FormData()
    other.set('file', new File([rows.join('\n')], 'test.csv'))
    for (const body of [undefined, new FormData(), other]) {
      const reply = await management.request(upload.path, {
        method: 'POST',
        headers,
        ...(body && { body }),
      })
      expect([reply.status, await reply.json()]).toMatchObject([
        400,
        { response: { fields: [{ field: 'modulefile' }] } },
      ])
    }
  })

  it('are rejected naming each invalid cell once', async () => {
    const { response } = await send('comp,x,Button,boss|chief,/path,nowhere')
    const { fields } = response as { fields: { field: string; reason: string }[] }
    expect(new Set(fields.map(({ field }) => field)).size).toBe(fields.length)
    expect(fields).toContainEqual({
      field: 'modulefile.1.role',
      reason: 'unknown role boss, chief',
    })
  })

  it('are rejected in a file larger than 1 MiB', async () => {
    expect((await send('x'.repeat((1 << 20) + 1))).status).toBe(413)
  })
})

/** Returns a zip file with deflated entries. */
function zip(entries: [name: string, content: Buffer][]): Buffer {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const [name, content] of entries) {
    const packed = deflateRawSync(content)
    const local = Buffer.alloc(30)
    local.writeUInt32LE(0x04034b50, 0)
    local.writeUInt16LE(8, 8)
    local.writeUInt32LE(packed.length, 18)
    local.writeUInt32LE(content.length, 22)
    local.writeUInt16LE(name.length, 26)
    const central = Buffer.alloc(46)
    central.writeUInt32LE(0x02014b50, 0)
    local.copy(central, 6, 4, 30)
    central.writeUInt32LE(offset, 42)
    parts.push(local, Buffer.from(name), packed)
    directory.push(central, Buffer.from(name))
    offset += local.length + name.length + packed.length
  }
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(entries.length, 10)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...parts, ...directory, end])
}

/**
 * Returns a minimal workbook. A cell that starts with = becomes a formula with the stored value 2.
 */
function xlsx(rows: string[][]): Buffer {
  const cell = (text: string, row: number, column: number) => {
    const position = `r="${'ABCDEF'[column]}${row + 1}"`
    return text.startsWith('=')
      ? `<c ${position}><f>${text.slice(1)}</f><v>2</v></c>`
      : `<c ${position} t="inlineStr"><is><t>${text}</t></is></c>`
  }
  const data = rows.map(
    (cells, n) =>
      `<row r="${n + 1}">${cells.map((it, column) => cell(it, n, column)).join('')}</row>`,
  )
  const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
  const relations = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
  const packages = 'http://schemas.openxmlformats.org/package/2006/relationships'
  const files: [string, string][] = [
    [
      'xl/workbook.xml',
      `<workbook xmlns="${main}" xmlns:r="${relations}"><sheets><sheet name="a" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    ],
    [
      'xl/_rels/workbook.xml.rels',
      `<Relationships xmlns="${packages}"><Relationship Id="rId1" Type="${relations}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`,
    ],
    [
      'xl/worksheets/sheet1.xml',
      `<worksheet xmlns="${main}"><sheetData>${data.join('')}</sheetData></worksheet>`,
    ],
  ]
  return zip(files.map(([name, text]) => [name, Buffer.from(text)]))
}
