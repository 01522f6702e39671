import { integer, jsonb, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { createdAt, key, optionalText } from './columns.ts'
import { organization } from './hierarchy.ts'

/** Name of the `setting` row with the time of the newest successful backup. */
export const NEWEST_BACKUP = 'newest_backup'

/** A module of the user interface, and the roles that may use the module. */
export const uiModule = pgTable('ui_module', {
  module_key: text().primaryKey(),
  module_name: text().notNull(),
  module_path: optionalText(),
  roles: text().array().notNull(),
  /** Position in the imported module file. */
  position: integer().notNull(),
})

/** A component of a module, and the roles that may use the component. */
export const uiComponent = pgTable(
  'ui_component',
  {
    module_key: text()
      .notNull()
      .references(() => uiModule.module_key, { onDelete: 'cascade' }),
    component_key: integer().notNull(),
    component_name: text().notNull(),
    roles: text().array().notNull(),
    position: integer().notNull(),
  },
  table => [primaryKey({ columns: [table.module_key, table.component_key] })],
)

/** A group of settings of the appliance, such as `sms` or `smtp`. Secrets are encrypted. */
export const setting = pgTable('setting', {
  name: text().primaryKey(),
  value: jsonb().notNull(),
})

/** An image that a user uploaded. The image itself is stored as a file. */
export const image = pgTable('image', {
  image_id: key().primaryKey(),
  /** Name of the file in the image folder. */
  path: text().notNull().unique(),
  type: text().notNull(),
  sha256: text().notNull(),
  /** Size of the file. */
  bytes: integer().notNull(),
  organization_id: uuid().references(() => organization.organization_id),
  created_at: createdAt(),
})
