-- +goose Up

-- A block without a claim has no lease.
ALTER TABLE blocks ADD CONSTRAINT blocks_lease_needs_claim
    CHECK (claim_id IS NOT NULL OR leased_until <= 'epoch');

-- The rect of a claim stands in one place and never changes.
CREATE TRIGGER rentals_keep_their_rect BEFORE UPDATE OF id, x, y, w, h ON rentals
    FOR EACH STATEMENT EXECUTE FUNCTION forbid();
CREATE TRIGGER blocked_keep_their_rect BEFORE UPDATE OF id, x, y, w, h ON blocked_areas
    FOR EACH STATEMENT EXECUTE FUNCTION forbid();

-- A claim has all blocks of its rect or none, and all its blocks have one
-- lease. It follows by induction: whatever statement touches a block of a
-- claim touches exactly the rect of that claim, both on the side before it
-- (extended or emptied) and on the side after it (taken or extended). The
-- smallest box around the touched blocks and their number say so, without a
-- look at any other block, so it costs the same on a full canvas.
-- +goose StatementBegin
CREATE FUNCTION claims_stay_whole() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    torn bigint;
BEGIN
    SELECT touched.claim_id INTO torn
    FROM (
        SELECT claim_id, min(x) AS x1, max(x) AS x2, min(y) AS y1, max(y) AS y2, count(*) AS n,
               min(leased_until) = max(leased_until) AS one_lease
        FROM (
            SELECT 'before' AS side, claim_id, x, y, leased_until FROM blocks_before WHERE claim_id IS NOT NULL
            UNION ALL
            SELECT 'after', claim_id, x, y, leased_until FROM blocks_after WHERE claim_id IS NOT NULL
        ) AS b
        GROUP BY side, claim_id
    ) AS touched
    LEFT JOIN LATERAL (
        SELECT x, y, w, h FROM rentals WHERE id = touched.claim_id
        UNION ALL
        SELECT x, y, w, h FROM blocked_areas WHERE id = touched.claim_id
    ) AS r ON true
    WHERE (r.x, r.x + r.w - 1, r.y, r.y + r.h - 1, r.w * r.h, true) IS DISTINCT FROM (x1, x2, y1, y2, n, one_lease)
    LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'claim % would have a part of its rect, blocks outside it, or more than one lease', torn
            USING ERRCODE = 'integrity_constraint_violation', TABLE = 'blocks', CONSTRAINT = 'claims_stay_whole';
    END IF;
    RETURN NULL;
END $$;
-- +goose StatementEnd

CREATE TRIGGER claims_stay_whole AFTER UPDATE ON blocks
    REFERENCING OLD TABLE AS blocks_before NEW TABLE AS blocks_after
    FOR EACH STATEMENT EXECUTE FUNCTION claims_stay_whole();

-- +goose Down
DROP TRIGGER claims_stay_whole ON blocks;
DROP FUNCTION claims_stay_whole;
DROP TRIGGER blocked_keep_their_rect ON blocked_areas;
DROP TRIGGER rentals_keep_their_rect ON rentals;
ALTER TABLE blocks DROP CONSTRAINT blocks_lease_needs_claim;
