"""The package attn on PyTorch tensors, and its drop-ins for functions of PyTorch and others."""

import pytest

attn = pytest.importorskip("attn", reason="the build has no Python package (ATTN_BUILD_PYTHON)")
torch = pytest.importorskip(
    "torch", reason="PyTorch is not installed: on PyPI it comes with gigabytes of CUDA libraries"
)

from attn.compat import flash_attn, sdpa  # noqa: E402
from reference import attention as reference  # noqa: E402

DEVICES = ["cpu", *(f"cuda:{i}" for i in range(torch.cuda.device_count()))]
TOLERANCE = {torch.float32: 1e-5, torch.float16: 2e-3, torch.bfloat16: 1e-2}
UnsupportedError = attn.errors.UnsupportedError


def make(device, dtype=torch.float32, batch=2, seq_q=33, seq_kv=47, heads_q=4, heads_kv=2, dim=16):
    generator = torch.Generator().manual_seed(5)
    shapes = [(batch, seq_q, heads_q, dim), *[(batch, seq_kv, heads_kv, dim)] * 2]
    return [torch.randn(s, generator=generator).to(device, dtype) for s in shapes]


def assert_close(got, want):
    """`want` is a tensor, or an array of float64."""
    want = torch.as_tensor(want).double().cpu()
    error = torch.linalg.norm(got.detach().double().cpu() - want)
    assert error <= TOLERANCE[got.dtype] * torch.linalg.norm(want)


def exact(q, k, v, **options):
    arrays = [t.detach().double().cpu().numpy() for t in (q, k, v)]
    return reference(*arrays, **options)


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@pytest.mark.parametrize("device", DEVICES)
def test_attention(device, dtype):
    q, k, v = make(device, dtype)
    o, lse = attn.attention(q, k, v, mask="causal", return_lse=True)
    want_o, want_lse = exact(q, k, v, mask="causal")
    assert (o.device, o.dtype) == (q.device, dtype)
    assert_close(o, want_o)
    assert torch.allclose(lse.cpu().double(), torch.as_tensor(want_lse), atol=2e-3)


@pytest.mark.parametrize("device", DEVICES)
def test_views_and_out(device):
    packed = torch.randn(2, 30, 3, 4, 16, generator=torch.Generator().manual_seed(1)).to(device)
    q, k, v = packed.unbind(2)
    out = torch.empty(2, 4, 30, 16, device=device).transpose(1, 2)
    assert attn.attention(q, k, v, out=out) is out
    assert_close(out, exact(q, k, v)[0])
    assert_close(
        attn.attention(*(t.transpose(1, 2) for t in (q, k, v)), layout="bhsd"),
        exact(q, k, v)[0].transpose(0, 2, 1, 3),
    )


def test_parameters_and_gradients():
    q, k, v = make("cpu")
    q = torch.nn.Parameter(q)
    with pytest.raises(UnsupportedError, match="no backward pass") as caught:
        attn.attention(q, k, v)
    assert caught.value.feature == "backward pass"
    with torch.no_grad():
        assert_close(attn.attention(q, k, v), exact(q, k, v)[0])


def test_misfits():
    q, k, v = make("cpu")
    with pytest.raises(attn.errors.ArgumentTypeError, match="k: expected a torch.Tensor as q is"):
        attn.attention(q, k.numpy(), v)
    with pytest.raises(attn.errors.SpecError, match="got torch.float64"):
        attn.attention(q.double(), k, v)
    with pytest.raises(attn.errors.DeviceError, match="meta"):
        attn.attention(*(t.to("meta") for t in (q, k, v)))
    with pytest.raises(attn.errors.SpecError, match="q: expected a strided tensor.*sparse"):
        attn.attention(q.to_sparse(), k, v)


@pytest.mark.skipif(len(DEVICES) == 1, reason="no CUDA device")
def test_a_graph_captures_calls_that_were_made_before():
    q, k, v = make("cuda:0", torch.bfloat16, dim=80)
    out = torch.empty_like(q)
    graph = torch.cuda.CUDAGraph()
    with pytest.raises(attn.errors.CaptureError, match="head_dim=80"):
        with torch.cuda.graph(graph):
            attn.attention(q, k, v, out=out)
    attn.attention(q, k, v, out=out)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        attn.attention(q, k, v, out=out)
    q.copy_(q.flip(0))
    graph.replay()
    torch.cuda.synchronize()
    assert_close(out, exact(q, k, v)[0])


@pytest.mark.skipif(len(DEVICES) == 1, reason="no CUDA device")
def test_work_is_ordered_with_the_current_stream():
    q, k, v = make("cuda:0", torch.float16)
    attn.attention(q, k, v)
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(50_000_000)
        late = q + 1
        o = attn.attention(late, k, v)
    stream.synchronize()
    assert_close(o, exact(q + 1, k, v)[0])
    with pytest.raises(attn.errors.DeviceError, match="k: expected an array on cuda:0"):
        attn.attention(q, k.cpu(), v)


@pytest.mark.skipif(len(DEVICES) == 1, reason="no CUDA device")
def test_graphs_and_calls_that_draw_tiles_run_beside_each_other():
    def tensors():
        return [torch.randn(4, 1300, 16, 128, device="cuda:0", dtype=torch.bfloat16) for _ in "qkv"]

    def call(q, k, v, out):
        attn.attention(q, k, v, mask="causal", out=out)

    works = []
    for _ in range(3):
        inputs = tensors()
        outs = [torch.empty_like(inputs[0]) for _ in range(4)]
        call(*inputs, outs[0])
        works.append((inputs, outs, outs[0].clone()))
    graphs = []
    for inputs, outs, _ in works[:2]:  # The third is not captured.
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for out in outs:
                call(*inputs, out)
        graphs.append(graph)
    torch.cuda.synchronize()
    streams = [torch.cuda.Stream() for _ in range(3)]
    for _ in range(20):
        for _, outs, _ in works:
            for out in outs:
                out.fill_(float("nan"))
        torch.cuda.synchronize()
        for graph, stream in zip(graphs, streams):
            with torch.cuda.stream(stream):
                graph.replay()
        inputs, outs, _ = works[2]
        with torch.cuda.stream(streams[2]):
            for out in outs:
                call(*inputs, out)
        torch.cuda.synchronize()
        for _, outs, expected in works:
            assert all(torch.equal(out, expected) for out in outs)


# The operator.


@pytest.mark.parametrize("device", DEVICES)
def test_operator(device):
    import attn.torch_ops  # noqa: F401

    q, k, v = make(device)
    torch.library.opcheck(
        torch.ops.attn.attention, (q, k, v, "causal", [5, 0], 0.3, 2.0, None, True),
        test_utils=("test_schema", "test_faketensor"),
    )


def test_compiled_functions_take_no_other_windows():
    q, k, v = make("cpu")
    compiled = torch.compile(lambda w: attn.attention(q, k, v, window=w), backend="aot_eager")
    for window in (1.5, True, "3"):
        with pytest.raises(attn.errors.ArgumentTypeError, match="window: expected an integer"):
            compiled(window)


def test_compiled_functions():
    import attn.torch_ops  # noqa: F401

    def model(q, k, v):
        o = attn.attention(q * 2, k, v, mask="causal", window=9)
        return sdpa.scaled_dot_product_attention(*(o.transpose(1, 2),) * 3, is_causal=True) + 1

    q, k, v = make("cpu")
    compiled = torch.compile(model, fullgraph=True, backend="aot_eager")
    with torch.no_grad():
        assert_close(compiled(q, k, v), model(q, k, v))


# Drop-ins.


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    "options", [{}, {"is_causal": True}, {"scale": 0.3}, {"is_causal": True, "scale": 0.5}], ids=str
)
@pytest.mark.parametrize("lengths", [(33, 47), (47, 33)])
def test_sdpa(device, options, lengths):
    tensors = [
        t.transpose(1, 2) for t in make(device, seq_q=lengths[0], seq_kv=lengths[1], heads_kv=4)
    ]
    want = torch.nn.functional.scaled_dot_product_attention(
        *(t.double() for t in tensors), **options
    )
    assert_close(sdpa.scaled_dot_product_attention(*tensors, **options), want)


def test_sdpa_heads():
    q, k, v = (t.transpose(1, 2) for t in make("cpu"))
    want = torch.nn.functional.scaled_dot_product_attention(
        q.double(), k.double(), v.double(), enable_gqa=True
    )
    assert_close(sdpa.scaled_dot_product_attention(q, k, v, enable_gqa=True), want)
    with pytest.raises(attn.errors.SpecError, match="enable_gqa"):
        sdpa.scaled_dot_product_attention(q, k, v)
    single = [t[:, 0] for t in (q, k, v)]
    want = torch.nn.functional.scaled_dot_product_attention(*(t.double() for t in single))
    assert_close(sdpa.scaled_dot_product_attention(*single), want)


def test_sdpa_refuses():
    q, k, v = (t.transpose(1, 2) for t in make("cpu", heads_kv=4))
    for options in ({"attn_mask": torch.ones(33, 47, dtype=torch.bool)}, {"dropout_p": 0.1}):
        with pytest.raises(UnsupportedError) as caught:
            sdpa.scaled_dot_product_attention(q, k, v, **options)
        assert caught.value.feature in ("attn_mask", "dropout")


@pytest.mark.parametrize("device", DEVICES)
def test_flash_attn(device):
    q, k, v = make(device)
    slopes = torch.tensor([0.5, 0.25, 0.125, 0.0625], device=device)
    o, lse, probabilities = flash_attn.flash_attn_func(
        q, k, v, causal=True, window_size=(9, 9), softcap=4.0, alibi_slopes=slopes,
        return_attn_probs=True,
    )
    want = exact(
        q, k, v, mask="causal", window=(9, -1), softcap=4.0, slopes=slopes.cpu().numpy()
    )
    assert_close(o, want[0])
    assert lse.shape == (2, 4, 33) and probabilities is None
    assert_close(flash_attn.flash_attn_func(q, k, v, window_size=(4, 3)),
                 exact(q, k, v, window=(4, 3))[0])


def test_flash_attn_packed():
    qkv = torch.randn(2, 20, 3, 4, 16)
    want = exact(*qkv.unbind(2), mask="causal")[0]
    assert_close(flash_attn.flash_attn_qkvpacked_func(qkv, causal=True), want)
    q, kv = qkv[:, :, 0], qkv[:, :, 1:]
    assert_close(flash_attn.flash_attn_kvpacked_func(q, kv, causal=True), want)


def test_flash_attn_varlen():
    begins_q, begins_k = torch.tensor([0, 5, 5, 12]), torch.tensor([0, 9, 13, 20])
    q, k, v = torch.randn(12, 4, 16), torch.randn(20, 2, 16), torch.randn(20, 2, 16)
    o, lse, _ = flash_attn.flash_attn_varlen_func(
        q, k, v, begins_q, begins_k, 7, 9, causal=True, return_attn_probs=True
    )
    for i in range(3):
        rows, keys = slice(begins_q[i], begins_q[i + 1]), slice(begins_k[i], begins_k[i + 1])
        want = exact(q[None, rows], k[None, keys], v[None, keys], mask="causal")
        assert_close(o[None, rows], want[0])
        assert torch.allclose(lse[None, :, rows].double(), torch.as_tensor(want[1]), atol=1e-4)
    with pytest.raises(attn.errors.SpecError, match="max_seqlen_q: expected at least 7"):
        flash_attn.flash_attn_varlen_func(q, k, v, begins_q, begins_k, 6, 9)
    with pytest.raises(attn.errors.SpecError, match="cu_seqlens_k: expected offsets"):
        flash_attn.flash_attn_varlen_func(q, k, v, begins_q, begins_q * 2, 7, 99)
    with pytest.raises(UnsupportedError, match="paged"):
        flash_attn.flash_attn_varlen_func(q, k, v, begins_q, begins_k, 7, 9, block_table=begins_q)


@pytest.mark.parametrize("lengths", [None, 20, torch.tensor([20, 20]), torch.tensor([3, 31])])
def test_flash_attn_with_kvcache(lengths):
    q, k, v = make("cpu", seq_q=3, seq_kv=40)
    _, k_new, v_new = make("cpu", seq_kv=3)
    appends = lengths is not None
    k_cache, v_cache = k.clone(), v.clone()
    o, lse = flash_attn.flash_attn_with_kvcache(
        q, k_cache, v_cache, *((k_new, v_new) if appends else ()), cache_seqlens=lengths,
        causal=True, return_softmax_lse=True,
    )
    for i in range(2):
        if appends:
            length = int(lengths if isinstance(lengths, int) else lengths[i])
            keys, values = (torch.cat([old[i, :length], new[i]])[None]
                            for old, new in ((k, k_new), (v, v_new)))
            assert torch.equal(k_cache[i, length : length + 3], k_new[i])
        else:
            keys, values = k[i : i + 1], v[i : i + 1]
        want = exact(q[i : i + 1], keys, values, mask="causal")
        assert_close(o[i : i + 1], want[0])
        assert torch.allclose(lse[i : i + 1].double(), torch.as_tensor(want[1]), atol=1e-4)


def test_flash_attn_refuses():
    q, k, v = make("cpu")
    for options, feature in [
        ({"rotary_cos": q}, "rotary"), ({"block_table": q}, "paged"), ({"num_splits": 2}, "splits"),
        ({"cache_leftpad": q}, "leftpad"), ({"cache_batch_idx": q}, "batch_idx"),
    ]:
        with pytest.raises(UnsupportedError, match=feature):
            flash_attn.flash_attn_with_kvcache(q, k, v, **options)
    with pytest.raises(attn.errors.SpecError, match="cache_seqlens: expected where to append"):
        flash_attn.flash_attn_with_kvcache(q, k, v, k, v)
    with pytest.raises(attn.errors.SpecError, match="cache_seqlens: expected 2 lengths from 0 to 47"):
        flash_attn.flash_attn_with_kvcache(q, k, v, cache_seqlens=48)
    with pytest.raises(attn.errors.ArgumentTypeError, match="key: expected a torch.Tensor"):
        sdpa.scaled_dot_product_attention(q, k.numpy(), v)
    with pytest.raises(attn.errors.ArgumentTypeError, match="kv: expected an array"):
        flash_attn.flash_attn_kvpacked_func(q, [k, v])
    with pytest.raises(attn.errors.SpecError, match="window_size: expected \\(left, right"):
        flash_attn.flash_attn_func(q, k, v, window_size=3)
    with pytest.raises(attn.errors.ArgumentTypeError, match="window_size: expected an integer"):
        flash_attn.flash_attn_func(q, k, v, window_size=(1.5, 0))
    with pytest.raises(attn.errors.ArgumentTypeError, match="cache_seqlens: expected an integer"):
        flash_attn.flash_attn_with_kvcache(q, k, v, cache_seqlens=torch.tensor([3.5, 4]))
    with pytest.raises(UnsupportedError, match="dropout"):
        flash_attn.flash_attn_func(q, k, v, dropout_p=0.5)
    with pytest.raises(UnsupportedError, match="alibi_slopes for each sequence"):
        flash_attn.flash_attn_func(q, k, v, alibi_slopes=torch.ones(2, 4))


# Hugging Face.


def build(kind, **options):
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    from attn.compat import huggingface

    huggingface.register()
    torch.manual_seed(0)
    config = getattr(transformers, kind + "Config")(
        vocab_size=64, hidden_size=64, intermediate_size=64, num_hidden_layers=2,
        num_attention_heads=4, **options,
    )
    model = getattr(transformers, kind + "Model")(config).eval()
    return model


def hidden(model, implementation, **inputs):
    model.set_attn_implementation(implementation)
    with torch.no_grad():
        return model(**inputs).last_hidden_state


@pytest.mark.parametrize(
    "kind, options",
    [
        ("Llama", {"num_key_value_heads": 2}),
        ("Mistral", {"num_key_value_heads": 2, "sliding_window": 8}),
        ("Bert", {}),
    ],
)
def test_hugging_face_models(kind, options):
    model = build(kind, **options)
    inputs = {"input_ids": torch.randint(64, (2, 21)), "attention_mask": torch.ones(2, 21).long()}
    assert_close(hidden(model, "attn", **inputs), hidden(model, "eager", **inputs))


def test_hugging_face_refuses():
    model = build("Llama")
    mask = torch.ones(2, 21).long()
    mask[0, :4] = 0
    ids = torch.randint(64, (2, 21))
    with pytest.raises(UnsupportedError, match="padding"):
        hidden(model, "attn", input_ids=ids, attention_mask=mask)
    with pytest.raises(UnsupportedError, match="masks that a model combines"):
        packed = torch.cat([torch.arange(11), torch.arange(10)]).expand(2, -1)
        hidden(model, "attn", input_ids=ids, position_ids=packed, use_cache=False)
    from attn.compat import huggingface

    q, k, v = (t.transpose(1, 2) for t in make("cpu"))
    for options, feature in [({"s_aux": q}, "sinks"), ({"dropout": 0.1}, "dropout"),
                             ({"output_attentions": True}, "attention weights"),
                             ({"sliding_window": 4, "is_causal": False}, "not causal")]:
        with pytest.raises(UnsupportedError, match=feature):
            huggingface.attention_forward(model, q, k, v, None, **options)


def test_hugging_face_generates():
    import transformers
    from attn.compat import huggingface

    huggingface.register()
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=64, hidden_size=64, intermediate_size=64, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2,
    )
    model = transformers.LlamaForCausalLM(config).eval()
    ids = torch.randint(3, 64, (2, 9))
    options = {"max_new_tokens": 6, "min_new_tokens": 6, "do_sample": False, "pad_token_id": 0}
    model.set_attn_implementation("eager")
    want = model.generate(ids, **options)
    model.set_attn_implementation("attn")
    assert torch.equal(model.generate(ids, **options), want)
