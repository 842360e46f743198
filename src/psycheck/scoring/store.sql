-- The tables of the store. Only ever append: a store made by an earlier version runs the steps it lacks.

-- step
CREATE TABLE model (
    id INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL UNIQUE, name TEXT NOT NULL,
    labels TEXT NOT NULL, parts TEXT NOT NULL
);
CREATE TABLE batch (
    id INTEGER PRIMARY KEY, model INTEGER NOT NULL, size INTEGER NOT NULL,
    texts BLOB NOT NULL, scores BLOB NOT NULL, read BLOB NOT NULL
);
CREATE INDEX batch_of_model ON batch (model);

-- step
ALTER TABLE batch ADD COLUMN replies INTEGER NOT NULL DEFAULT 0;
CREATE TABLE reply (
    batch INTEGER NOT NULL, place INTEGER NOT NULL, text BLOB NOT NULL, prompt_tokens INTEGER,
    completion_tokens INTEGER, finish TEXT NOT NULL, seconds REAL, PRIMARY KEY (batch, place)
) WITHOUT ROWID;
CREATE TABLE encoder (
    id INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL UNIQUE, name TEXT NOT NULL, parts TEXT NOT NULL
);
CREATE TABLE vectors (
    id INTEGER PRIMARY KEY, encoder INTEGER NOT NULL, size INTEGER NOT NULL,
    items BLOB NOT NULL, vectors BLOB NOT NULL, width INTEGER NOT NULL
);
CREATE INDEX vectors_of_encoder ON vectors (encoder);
CREATE TABLE result (key BLOB PRIMARY KEY, numbers BLOB NOT NULL);

-- step
PRAGMA application_id = 1886615907;
ALTER TABLE batch RENAME TO unkeyed;
CREATE TABLE batch (
    id INTEGER PRIMARY KEY AUTOINCREMENT, model INTEGER NOT NULL, size INTEGER NOT NULL, texts BLOB NOT NULL,
    scores BLOB NOT NULL, read BLOB NOT NULL, replies INTEGER NOT NULL DEFAULT 0, checksum BLOB
);
INSERT INTO batch SELECT id, model, size, keyed(texts), scores, read, replies, NULL FROM unkeyed;
UPDATE batch SET checksum = seal(
    (SELECT fingerprint FROM model WHERE model.id = batch.model), id, size, texts, scores, read, replies
);
DROP TABLE unkeyed;
CREATE INDEX batch_of_model ON batch (model);
ALTER TABLE reply ADD COLUMN checksum BLOB;
UPDATE reply SET checksum = seal(batch, place, text, prompt_tokens, completion_tokens, finish, seconds);
ALTER TABLE vectors ADD COLUMN checksum BLOB;
UPDATE vectors SET items = keyed(items);
UPDATE vectors SET checksum = seal(
    (SELECT fingerprint FROM encoder WHERE encoder.id = vectors.encoder), id, size, items, vectors, width
);
ALTER TABLE result ADD COLUMN checksum BLOB;
UPDATE result SET key = keyed(key);
UPDATE result SET checksum = seal(key, numbers);
CREATE TABLE claim (owner TEXT PRIMARY KEY, renewed REAL NOT NULL, model INTEGER NOT NULL, items BLOB NOT NULL);
CREATE TABLE secret (proof BLOB NOT NULL);
INSERT INTO secret VALUES (keyed(zeroblob(16)));

-- step
ALTER TABLE reply ADD COLUMN logprobs BLOB NOT NULL DEFAULT x'';
ALTER TABLE reply ADD COLUMN others TEXT NOT NULL DEFAULT '[]';
UPDATE reply SET checksum = seal(
    batch, place, text, prompt_tokens, completion_tokens, finish, seconds, logprobs, others
) WHERE checksum IS seal(batch, place, text, prompt_tokens, completion_tokens, finish, seconds);
ALTER TABLE secret ADD COLUMN passes INTEGER NOT NULL DEFAULT 2;
